"""What an edit carries along, so that one changed field does not break every equation around it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.defaults import split_data_parallel
from scaletui_engine.plan import Split, Strategy
from scaletui_engine.schedule_rules import nearest_microbatches, schedule_rule
from scaletui_engine.validate.experts import expert_group
from scaletui_engine.validate.nearest import divisors, nearest_multiple
from scaletui_engine.validate.sequence import longest_sequence, sequence_multiple

if TYPE_CHECKING:
    from scaletui_engine.plan import Axes, Plan
    from scaletui_engine.scenario import Scenario

_DATA: Final = ("dp_shard", "dp_replicate")


def settle(scenario: Scenario, field: str) -> Scenario:
    """`scenario`, in which `field` was just set, with its dependents adjusted; `field` itself stays."""
    if not _countable(scenario):
        return scenario
    scenario = _data_parallel(scenario, field)
    for adjusted in (_experts, _chunks, _sequence, _batch):
        scenario = adjusted(scenario, field)
    return scenario


def _countable(scenario: Scenario) -> bool:
    """Whether every number that is divided by below is at least 1."""
    plan, axes = scenario.plan, scenario.plan.axes
    degrees = (axes.tp, axes.cp, axes.ep, axes.pp, axes.dp_replicate, axes.dp_shard)
    return (
        min(*degrees, scenario.cluster.gpus, scenario.cluster.gpus_per_node, plan.micro_batch, plan.seq) >= 1
    )


def _with_axes(scenario: Scenario, axes: Axes) -> Scenario:
    return scenario.with_plan(replace(scenario.plan, axes=axes))


def _data_parallel(scenario: Scenario, field: str) -> Scenario:
    """dp takes what the other axes leave; setting dp itself without hsdp buys or gives back GPUs."""
    axes, strategy = scenario.plan.axes, scenario.plan.strategy
    if field in _DATA and strategy is not Strategy.HSDP:
        return replace(scenario, cluster=replace(scenario.cluster, gpus=axes.world))
    left, rest = divmod(scenario.cluster.gpus, axes.tp * axes.cp * axes.pp)
    if rest or left == 0:
        return scenario
    replicate, shard = _shares(scenario, field, left)
    return _with_axes(scenario, replace(axes, dp_replicate=replicate, dp_shard=shard))


def _shares(scenario: Scenario, field: str, left: int) -> tuple[int, int]:
    """(dp_replicate, dp_shard): under hsdp one of them stays, and it is the one just set if there is one."""
    axes, strategy = scenario.plan.axes, scenario.plan.strategy
    if field == "dp_shard":
        return max(left // axes.dp_shard, 1), axes.dp_shard
    stays = axes.dp_replicate > 1 and left % axes.dp_replicate == 0 and left > axes.dp_replicate
    if field == "dp_replicate" or (strategy is Strategy.HSDP and stays):
        return axes.dp_replicate, max(left // axes.dp_replicate, 1)
    return split_data_parallel(strategy, left, scenario.cluster.gpus_per_node)


def _experts(scenario: Scenario, field: str) -> Scenario:
    """ep falls to the largest degree that still deals the experts out evenly."""
    moe, axes = scenario.model.arch.moe, scenario.plan.axes
    if field == "ep":
        return scenario
    group = expert_group(scenario.plan)
    good = [1] if moe is None else [degree for degree in divisors(moe.experts) if group % degree == 0]
    return _with_axes(scenario, replace(axes, ep=max(degree for degree in good if degree <= axes.ep)))


def _chunks(scenario: Scenario, field: str) -> Scenario:
    """Chunks follow the schedule's limits; a list of layers gives way to a rule when it no longer fits."""
    plan = scenario.plan
    low, high = schedule_rule(plan.schedule).chunks if plan.axes.pp > 1 else (1, 1)
    if field != "chunks":
        chunks = max(plan.chunks, low) if high is None else min(max(plan.chunks, low), high)
        plan = replace(plan, chunks=chunks)
    if isinstance(plan.layer_split, tuple) and field != "layer_split" and not _fits(scenario, plan):
        plan = replace(plan, layer_split=Split.EVEN)
    return scenario.with_plan(plan)


def _fits(scenario: Scenario, plan: Plan) -> bool:
    split = plan.layer_split
    return isinstance(split, tuple) and len(split) == plan.stages and sum(split) == scenario.model.arch.layers


def _sequence(scenario: Scenario, field: str) -> Scenario:
    """The sequence stays within the model and a multiple of what cuts it."""
    plan, longest = scenario.plan, longest_sequence(scenario)
    if field == "seq":
        return scenario
    step = sequence_multiple(plan)
    seq = plan.seq if longest is None else min(plan.seq, longest)
    if seq % step:
        seq = max(seq // step, 1) * step
    return scenario.with_plan(replace(plan, seq=seq))


def _batch(scenario: Scenario, field: str) -> Scenario:
    """The global batch becomes the nearest that microbatch, dp and schedule allow."""
    plan = scenario.plan
    if field == "global_batch" or plan.global_batch < 1:
        return scenario
    each = plan.micro_batch * plan.axes.dp
    count = nearest_multiple(each, plan.global_batch) // each
    if plan.axes.pp > 1:
        count = nearest_microbatches(schedule_rule(plan.schedule), plan.axes.pp, count)
    return scenario.with_plan(replace(plan, global_batch=count * each))
