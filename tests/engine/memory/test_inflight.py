"""Microbatches in flight: closed forms are what the simulated schedules hold, and what the papers say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from scaletui_engine.memory.inflight import Pipeline, in_flight, simulated

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


def test_a_shape_that_the_schedule_refuses_is_taken_as_1f1b() -> None:
    assert list(in_flight(Pipeline("dualpipe", 4, 2))) == [2, 2, 2, 1]
