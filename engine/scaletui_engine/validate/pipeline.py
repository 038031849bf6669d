"""The pipeline: layers for every stage, and what the schedule needs of ranks, chunks and microbatches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, ScenarioError, brief
from scaletui_engine.schedule_rules import nearest_microbatches, schedule_rule
from scaletui_engine.stages import layer_counts

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.schedule_rules import ScheduleRule


def check_pipeline(scenario: Scenario) -> None:
    """Raises ScenarioError; DivisibilityError where layers or microbatches do not come out even."""
    plan, layers = scenario.plan, scenario.model.arch.layers
    rule = schedule_rule(plan.schedule)
    if plan.axes.pp == 1:
        if plan.chunks > 1:
            raise ScenarioError(f"chunks {plan.chunks} with pp 1: nothing to interleave", "chunks 1")
    else:
        _check_chunks(plan, rule)
    if plan.stages > layers:
        raise DivisibilityError(
            f"pp {plan.axes.pp} x chunks {plan.chunks} = {plan.stages} stages > {layers} layers",
            f"{layers} stages",
        )
    _check_split(layers, plan)
    if plan.axes.pp > 1:
        _check_microbatches(plan, rule)


def _check_chunks(plan: Plan, rule: ScheduleRule) -> None:
    low, high = rule.chunks
    if plan.chunks < low:
        raise ScenarioError(f"{rule.name} needs chunks >= {low}, but chunks = {plan.chunks}", f"chunks {low}")
    if high is not None and plan.chunks > high:
        raise ScenarioError(
            f"{rule.name} needs chunks <= {high}, but chunks = {plan.chunks}", f"chunks {high}"
        )
    if rule.even_ranks and plan.axes.pp % 2:
        raise DivisibilityError(
            f"{rule.name} needs an even pp, but pp = {plan.axes.pp}", f"pp {plan.axes.pp + 1}"
        )


def _check_split(layers: int, plan: Plan) -> None:
    counts = layer_counts(layers, plan.stages, plan.layer_split)
    empty = [stage for stage, count in enumerate(counts) if count < 1]
    if empty:
        raise DivisibilityError(f"layer_split gives stage {empty[0]} {brief(counts[empty[0]])} layers")


def _check_microbatches(plan: Plan, rule: ScheduleRule) -> None:
    """Relies on a whole accumulation, which `check_batch` explains when it is not."""
    each = plan.micro_batch * plan.axes.dp
    if plan.global_batch % each:
        return
    count, ranks = plan.accumulation, plan.axes.pp
    why = rule.refuses(count, ranks)
    if why is not None:
        nearest = nearest_microbatches(rule, ranks, count)
        raise DivisibilityError(
            f"{rule.name} needs {why}, but global batch {plan.global_batch} / (micro-batch "
            f"{plan.micro_batch} x dp {plan.axes.dp}) = {count} microbatches over pp {ranks}",
            f"global batch {nearest * each}",
        )
