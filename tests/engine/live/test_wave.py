"""The wave of unsharded units: from records to samples, and from samples to one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from live_rings import MadeUpJob, record

from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store
from scaletui_engine.live.wave import MOST, WaveSample, folded, phase_of
from scaletui_probe.layout import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaletui_probe.ring import RingWriter

MS = 1_000_000


def sample(phase: float | None, groups: bytes) -> WaveSample:
    return WaveSample(0, 1, phase, groups)


def test_bits_are_units_from_the_lowest_on() -> None:
    found = sample(None, b"\x05\x80")
    assert [unit for unit in range(20) if found.is_lit(unit)] == [0, 2, 15]
    assert (found.lit(20), found.lit(3)) == (3, 2)


@pytest.mark.parametrize(
    ("now", "end", "length", "phase"),
    [
        (150, 100, 200, 0.25),
        (100, 100, 200, 0.0),
        (300, 100, 200, None),
        (90, 100, 200, None),
        (150, 100, 0, None),
    ],
)
def test_a_phase_is_a_share_of_the_step_before(now: int, end: int, length: int, phase: float | None) -> None:
    assert phase_of(now, end, length) == phase


def test_samples_of_many_steps_draw_one_wave() -> None:
    forward = [sample(unit / 4, bytes([1 << unit])) for unit in range(4)]
    wave = folded([*forward, *forward, sample(None, b"\x0f"), sample(0.999, b"")], 4, 4)
    assert wave.seen == (2, 2, 2, 3)
    assert wave.lit == ((2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (0, 0, 0, 2))


def test_units_beyond_those_of_the_plan_are_not_drawn() -> None:
    assert folded([sample(0.0, b"\xff")], 2, 1).lit == ((1,), (1,))


@pytest.fixture
def watched(tmp_path) -> Iterator[tuple[RingWriter, Callable[[int], tuple[WaveSample, ...]]]]:
    """The ring of a job with one rank, and a look at its wave at a monotonic time."""
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    source = RingSource(str(folder))
    store = Store(source.host)

    def look(now_ns: int) -> tuple[WaveSample, ...]:
        return store.take(source.poll(Moment(now_ns, 0)), Moment(now_ns, 0)).jobs[0].ranks[0].wave

    with MadeUpJob(folder, 1) as job:
        job.plan()
        yield job.rings[0], look
    source.close()


def test_records_become_samples_of_the_step_they_were_taken_in(watched) -> None:
    ring, look_at = watched

    def look() -> tuple[WaveSample, ...]:
        return look_at(record(Kind.SAMPLE, {}).monotonic_ns)

    end = record(Kind.STEP, {"step": 3, "step_ns": 400 * MS})
    ring.put(end)
    for after, bits in ((100, b"\x01"), (300, b"\0"), (900, b"\x01")):
        taken = record(Kind.SAMPLE, {"step": 3, "groups_unsharded": bits[0]})
        ring.put(taken._replace(monotonic_ns=end.monotonic_ns + after * MS, unsharded_groups=bits))
    ring.put(record(Kind.SAMPLE, {"step": 3}))
    assert [(found.step, found.phase, found.groups) for found in look()] == [
        (3, 0.25, b"\x01"), (3, 0.75, b""), (3, None, b"\x01"),
    ]  # fmt: skip
    for _ in range(2 * MOST):
        ring.put(record(Kind.SAMPLE, {"step": 4, "groups_unsharded": 1})._replace(unsharded_groups=b"\x01"))
        found = look()
    assert len(found) == MOST
    assert {sample.phase for sample in found} == {None}


def test_a_look_that_brings_several_steps_knows_where_in_each_a_sample_was_taken(watched) -> None:
    """A job makes several steps a second, and a viewer looks once."""
    ring, look = watched
    first = record(Kind.STEP, {"step": 1, "step_ns": 300 * MS})
    look(first.monotonic_ns)
    for step in range(1, 5):
        end_ns = first.monotonic_ns + step * 300 * MS
        end = record(Kind.STEP, {"step": step, "step_ns": 300 * MS})
        taken = record(Kind.SAMPLE, {"step": step, "groups_unsharded": 1})
        ring.put(end._replace(monotonic_ns=end_ns))
        ring.put(taken._replace(monotonic_ns=end_ns + 75 * step * MS - 75 * MS, unsharded_groups=b"\x01"))
    wave = look(first.monotonic_ns + 2_000 * MS)
    assert [(found.step, found.phase) for found in wave] == [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75)]
