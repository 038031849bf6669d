"""Microbatches in flight: closed forms are what the simulated schedules hold, and what the papers say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from scaletui_engine.errors import ScenarioError
from scaletui_engine.memory.inflight import Pipeline, in_flight, simulated
from scaletui_engine.schedule.activations import activations_of
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule.simulate import simulate

CLOSED = (
    ("naive", 1), ("gpipe", 1), ("GPipe", 1), ("1f1b", 1), ("1F1B", 1), ("pipedream", 1), ("eager-1f1b", 1),
    ("looped-bfs", 2), ("LoopedBFS", 3), ("interleaved-1f1b", 2), ("interleaved-1f1b", 3),
    ("Interleaved1F1B", 2),
)  # fmt: skip


@pytest.mark.parametrize(("schedule", "chunks"), CLOSED)
@pytest.mark.parametrize("ranks", [2, 4, 5])
@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_closed_forms_equal_the_simulation(schedule: str, chunks: int, ranks: int, rounds: int) -> None:
    pipeline = Pipeline(schedule, ranks, ranks * rounds, chunks)
    assert in_flight(pipeline) == simulated(pipeline)


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe", "eager-1f1b"])
def test_closed_forms_equal_the_simulation_with_few_microbatches(schedule: str) -> None:
    pipeline = Pipeline(schedule, 8, 2)
    assert in_flight(pipeline) == simulated(pipeline)


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        pytest.param(Pipeline("1f1b", 4, 8), [4, 3, 2, 1], id="korthikanti-section-4.2.3"),
        pytest.param(Pipeline("zb-h1", 4, 16), [4, 4, 4, 4], id="zero-bubble-h1-never-above-1f1b"),
        pytest.param(Pipeline("zb-h2", 4, 16), [7, 7, 7, 7], id="zero-bubble-h2"),
        pytest.param(Pipeline("zb-v", 4, 16, 2), [4, 4, 4, 4], id="zero-bubble-v"),
        pytest.param(Pipeline("v-half", 4, 16, 2), [3, 3, 3, 3], id="controllable-memory-v-half"),
        pytest.param(Pipeline("v-min", 4, 16, 2), [2, 2, 2, 2], id="controllable-memory-v-min"),
        pytest.param(
            Pipeline("dualpipe", 4, 16), [Fraction(5, 2)] * 4, id="dualpipe-p-plus-1-over-two-stages"
        ),
    ],
)
def test_what_schedules_hold(pipeline: Pipeline, expected: list[Fraction]) -> None:
    assert list(in_flight(pipeline)) == expected


@pytest.mark.parametrize("schedule", ["zb-h1", "zb-h2", "zb-v", "v-half", "v-min", "dualpipev"])
def test_more_microbatches_hold_no_more(schedule: str) -> None:
    chunks = 2 if schedule in ("zb-v", "v-half", "v-min", "dualpipev") else 1
    assert in_flight(Pipeline(schedule, 4, 64, chunks)) == in_flight(Pipeline(schedule, 4, 4096, chunks))


@pytest.mark.parametrize("schedule", ["v-half", "v-min"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("microbatches", [1, 2, 4, 9, 30])
def test_building_blocks_hold_what_the_paper_says(schedule: str, ranks: int, microbatches: int) -> None:
    pipeline = Pipeline(schedule, ranks, microbatches, 2)
    assert in_flight(pipeline) == simulated(pipeline)


def test_building_blocks_too_many_to_be_laid_out() -> None:
    """Their order is refused beyond 2^18 places, and is not taken for another schedule's."""
    assert in_flight(Pipeline("v-half", 400, 1600, 2)) == (201,) * 400
    with pytest.raises(ScenarioError, match="re-orders 1280000 places"):
        simulated(Pipeline("v-half", 400, 1600, 2))


@pytest.mark.parametrize("schedule", ["interleaved-zero-bubble", "Interleaved1F1B"])
@pytest.mark.parametrize(
    ("ranks", "microbatches"),
    [(6, 35), (7, 48), (8, 63), (8, 45), (12, 91), (6, 42), (4, 64), (2, 3), (5, 2)],
)
@pytest.mark.parametrize("chunks", [2, 3])
def test_rounds_as_large_as_they_are(schedule: str, ranks: int, microbatches: int, chunks: int) -> None:
    """35 microbatches on 6 ranks are 5 rounds of 7: a rank holds more than in rounds of 6."""
    timeline = simulate(build(Request(schedule, Shape(ranks, microbatches, chunks))))
    peaks = [Fraction(peak) / chunks for peak in activations_of(timeline).peak.astype(int).tolist()]
    assert list(in_flight(Pipeline(schedule, ranks, microbatches, chunks))) == peaks


def test_a_shape_that_the_schedule_refuses_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"dualpipe needs microbatches \(2\) >= 2 x ranks \(8\)"):
        in_flight(Pipeline("dualpipe", 4, 2))
