"""A step's memory over time: its highest point is the budget's peak."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.timeline import timeline
from scaletui_engine.plan import Recompute, Split, Strategy
from scaletui_engine.schedule_rules import schedule_names, schedule_rule

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

EIGHT_B = Choices("llama3.1-8b", "h100-sxm", 8)
PIPELINE = Choices("llama3.1-8b", "h100-sxm", 64, tp=2, pp=4, layer_split=Split.ENDS)


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("recompute", [Recompute.NONE, Recompute.FULL])
@pytest.mark.parametrize("microbatches", [1, 4])
def test_the_highest_point_is_the_peak(strategy: Strategy, recompute: Recompute, microbatches: int) -> None:
    scenario = scenario_from(
        replace(EIGHT_B, strategy=strategy, recompute=recompute, global_batch=8 * microbatches)
    )
    step, stage = timeline(scenario), evaluate(scenario).stages[0]
    assert step.points[step.peak].parts == stage.parts
    assert step.points[step.peak].phase == stage.phase


@pytest.mark.parametrize("schedule", ["1f1b", "eager-1f1b", "gpipe", "zb-h1", "zb-h2"])
@pytest.mark.parametrize("microbatches", [2, 4, 16])
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_pipeline_rank_never_passes_its_peak(schedule: str, microbatches: int, rank: int) -> None:
    scenario = scenario_from(replace(PIPELINE, schedule=schedule, global_batch=8 * microbatches))
    step, stage = timeline(scenario, rank), evaluate(scenario).stages[rank]
    assert step.points[step.peak].parts.total <= stage.peak_bytes
    if schedule in ("1f1b", "eager-1f1b"):
        assert step.points[step.peak].parts.total == stage.peak_bytes


@pytest.mark.parametrize("strategy", [Strategy.FSDP, Strategy.FSDP1, Strategy.ZERO1, Strategy.DDP])
@pytest.mark.parametrize("schedule", ["1f1b", "gpipe", "zb-h1"])
@pytest.mark.parametrize("microbatches", [1, 4, 16])
@pytest.mark.parametrize("reshard", [False, True])
def test_nothing_is_ever_less_than_nothing(
    strategy: Strategy, schedule: str, microbatches: int, reshard: bool
) -> None:
    """The end of the backward pass once had a pass in flight taken off that was no longer there."""
    scenario = scenario_from(
        replace(
            PIPELINE, strategy=strategy, schedule=schedule, global_batch=8 * microbatches,
            reshard_after_forward=reshard,
        )
    )  # fmt: skip
    for rank, stage in enumerate(evaluate(scenario).stages):
        for point in timeline(scenario, rank).points:
            assert min(size for _, size in point.parts.items()) >= 0
            assert point.parts.total <= stage.peak_bytes


def test_time_runs_forward_and_ends_with_the_step() -> None:
    step = timeline(scenario_from(replace(EIGHT_B, global_batch=32)))
    times = [point.time for point in step.points]
    assert times == sorted(times)
    assert step.points[-1].phase == "step"
    assert (step.microbatches, step.shown) == (4, 3)


def test_activations_grow_forward_and_shrink_backward() -> None:
    step = timeline(scenario_from(replace(EIGHT_B, strategy=Strategy.DDP)))
    forward = [point.parts.activations for point in step.points if point.phase == "forward"]
    assert len(forward) == 32
    assert forward == sorted(forward)
    assert all(layer.activations == 0 for layer in (step.points[-1].parts,))


def _of(schedule: str, strategy: Strategy) -> Scenario:
    """Eight layers a rank and 16 microbatches, in as few chunks as the schedule takes."""
    low, _ = schedule_rule(schedule).chunks
    return scenario_from(
        Choices(
            "llama3.1-8b",
            "h100-sxm",
            16,
            pp=4,
            chunks=low,
            schedule=schedule,
            strategy=strategy,
            global_batch=64,
        )
    )


@pytest.mark.parametrize("schedule", schedule_names())
@pytest.mark.parametrize("strategy", [Strategy.FSDP, Strategy.ZERO1])
def test_every_schedule_reaches_the_peak_of_each_rank(schedule: str, strategy: Strategy) -> None:
    scenario = _of(schedule, strategy)
    for rank, stage in enumerate(evaluate(scenario).stages):
        step = timeline(scenario, rank)
        assert step.points[step.peak].parts.total == stage.peak_bytes, rank


@pytest.mark.parametrize("schedule", ["gpipe", "looped-bfs"])
def test_losses_of_all_microbatches_wait_where_forward_comes_first(schedule: str) -> None:
    """4 bytes of fp32 log-probabilities a logit, of the 15 microbatches beside the last one."""
    last = evaluate(_of(schedule, Strategy.FSDP)).stages[3]
    alone = evaluate(_of("1f1b", Strategy.FSDP)).stages[3]
    assert last.parts.loss - alone.parts.loss == 15 * 4096 * 128256 * 4
