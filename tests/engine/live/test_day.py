"""24 hours of one rank in one go: its memory stays what it was after three."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

from live_images import full_ring, record

from scaletui_engine.live.contract import contract
from scaletui_engine.live.header import parse_header
from scaletui_engine.live.history import RECENT
from scaletui_engine.live.process import Host, Life
from scaletui_engine.live.record import parse_record
from scaletui_engine.live.ring import RingReading
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.source import RingUpdate, SourceUpdate
from scaletui_engine.live.store import Store
from scaletui_engine.live.tracked import MOST_HAPPENINGS
from scaletui_engine.live.watch import Sighting
from scaletui_engine.live.wave import MOST
from scaletui_probe.layout import Event, Kind
from scaletui_probe.record import encode

S = 1_000_000_000
STEPS_AN_HOUR, HOURS = 120, 24
ALIVE = Sighting(Life.ALIVE)


def read(records):
    return tuple(parse_record(encode(found, 2 * (write + 1))) for write, found in enumerate(records))


def half_a_minute(step):
    """Samples every two seconds, the step at the end of them and every ten minutes an event."""
    begin_ns = (step - 1) * 30 * S
    held = {"step": step, "allocated": step, "active": step, "weights_device": 1, "groups_unsharded": 1}
    samples = [record(at_ns=begin_ns + n * 2 * S, **held) for n in range(15)]
    step_record = record(Kind.STEP, begin_ns + 30 * S, **held, step_ns=30 * S, counted_at_step=step)
    event = record(Kind.EVENT, begin_ns, **held)._replace(event=Event.ALLOC_RETRY)
    return read(samples), read([step_record]), read([event] if step % 20 == 0 else [])


def test_a_day_of_samples_takes_no_more_memory_than_three_hours():
    """A number kept of every sample would be a megabyte by then, every record twenty."""
    store, sizes = Store(Host("boot-a", "node-a")), []
    ring = replace(full_ring(), records=((), (), ()))
    image = ring.image()
    header = parse_header(image, len(image))
    tracemalloc.start()
    for step in range(1, HOURS * STEPS_AN_HOUR + 1):
        reading = RingReading("r0", header, ring.plan, 2, *half_a_minute(step))
        moment = Moment(step * 30 * S, step * 30 * S)
        shown = store.take(SourceUpdate((RingUpdate(reading, ALIVE, ALIVE),), (), ()), moment)
        if step % (3 * STEPS_AN_HOUR) == 0:
            (rank,) = shown.jobs[0].ranks
            lengths = (rank.step, len(rank.history), len(rank.wave), len(rank.happenings))
            assert lengths == (step, RECENT, MOST, MOST_HAPPENINGS)
            contract(shown)
            del rank, shown, reading
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(sizes) < sizes[0] + 50_000, sizes
