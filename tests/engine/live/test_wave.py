"""The wave of unsharded units: from records to samples, and from samples to one step."""

from __future__ import annotations

import pytest
from live_rings import MadeUpJob, record

from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store
from scaletui_engine.live.wave import MOST, WaveSample, folded, phase_of
from scaletui_probe.layout import Kind

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


def test_records_become_samples_of_the_step_they_were_taken_in(tmp_path) -> None:
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    source = RingSource(str(folder))
    store = Store(source.host)
    with MadeUpJob(folder, 1) as job:
        job.plan()
        (ring,) = job.rings

        def look() -> tuple[WaveSample, ...]:
            last = record(Kind.SAMPLE, {}).monotonic_ns
            return store.take(source.poll(Moment(last, 0)), Moment(last, 0)).jobs[0].ranks[0].wave

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
            ring.put(
                record(Kind.SAMPLE, {"step": 4, "groups_unsharded": 1})._replace(unsharded_groups=b"\x01")
            )
            found = look()
        assert len(found) == MOST
        assert {sample.phase for sample in found} == {None}
    source.close()


def test_a_look_that_brings_several_steps_knows_where_in_each_a_sample_was_taken(tmp_path) -> None:
    """A job makes several steps a second, and a viewer looks once."""
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    source = RingSource(str(folder))
    store = Store(source.host)
    with MadeUpJob(folder, 1) as job:
        job.plan()
        (ring,) = job.rings
        first = record(Kind.STEP, {"step": 1, "step_ns": 300 * MS})
        store.take(source.poll(Moment(first.monotonic_ns, 0)), Moment(first.monotonic_ns, 0))
        for step in range(1, 5):
            end_ns = first.monotonic_ns + step * 300 * MS
            end = record(Kind.STEP, {"step": step, "step_ns": 300 * MS})
            taken = record(Kind.SAMPLE, {"step": step, "groups_unsharded": 1})
            ring.put(end._replace(monotonic_ns=end_ns))
            ring.put(taken._replace(monotonic_ns=end_ns + 75 * step * MS - 75 * MS, unsharded_groups=b"\x01"))
        moment = Moment(first.monotonic_ns + 2_000 * MS, 0)
        wave = store.take(source.poll(moment), moment).jobs[0].ranks[0].wave
        assert [(found.step, found.phase) for found in wave] == [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75)]
    source.close()
