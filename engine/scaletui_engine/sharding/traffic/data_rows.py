"""The data-parallel collectives of a step, as papers count them and as frameworks issue them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.plan import Strategy
from scaletui_engine.runtime import Framework
from scaletui_engine.sharding.ddp import BUCKET, FIRST_BUCKET, buckets
from scaletui_engine.sharding.notes import never_reduces
from scaletui_engine.sharding.traffic import data_volume
from scaletui_engine.sharding.traffic.call import Call
from scaletui_engine.sharding.traffic.data_volume import Volume
from scaletui_engine.sharding.traffic.fsdp_calls import Degrees, Habits, unit_calls
from scaletui_engine.sharding.zero import persists
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.sharding.traffic.step import Step, Unit

Placed = tuple[str, Call]
"""(group, call): "dp_cp", "fsdp", "dp_replicate"; "edp" and "expert_replicate" for experts."""
_AR, _AG, _RS = Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER
_FSDP: Final = (Strategy.FSDP, Strategy.HSDP, Strategy.FSDP1)


def degrees(step: Step, *, expert: bool) -> tuple[int, int]:
    """(ranks that shard, replicas of them); ZeRO and DDP count all data ranks as one group."""
    axes, load = step.scenario.plan.axes, step.load
    shards = axes.dp_shard * axes.cp
    if expert:
        shards = max(shards * axes.tp // (axes.ep * load.etp), 1)
    whole = step.scenario.plan.strategy not in _FSDP
    if expert and axes.dp_shard * axes.cp * axes.tp < axes.ep * load.etp:
        return axes.dp * axes.cp * axes.tp // (axes.ep * load.etp), 1
    return (shards * axes.dp_replicate, 1) if whole else (shards, axes.dp_replicate)


def paper_rows(step: Step) -> Iterator[Placed]:
    """The volume of the ZeRO paper: everything in the compute type, no padding."""
    for expert in (False, True):
        shards, replicas = degrees(step, expert=expert)
        item = step.load.item
        second = 0 if expert else _second(step)
        volume = Volume(step.numel(expert=expert), item, item, shards, replicas, step.microbatches, second)
        if not volume.params:
            continue
        names = _names(step, expert=expert)
        for call in _paper_calls(step.scenario.plan.strategy, volume):
            yield _group(step, names[0], call), call
        if replicas > 1 and step.scenario.plan.strategy in _FSDP:
            for call in data_volume.replicated(volume):
                yield names[1], call


def _paper_calls(strategy: Strategy, volume: Volume) -> tuple[Call, ...]:
    if volume.shards == 1:
        return ()
    if strategy is Strategy.DDP:
        return data_volume.ddp(volume)
    if strategy is Strategy.ZERO1:
        return data_volume.zero1(volume)
    return data_volume.zero2(volume) if strategy is Strategy.ZERO2 else data_volume.zero3(volume)


def _names(step: Step, *, expert: bool) -> tuple[str, str]:
    if expert:
        return "edp", "expert_replicate"
    return ("fsdp", "dp_replicate") if step.scenario.plan.strategy in _FSDP else ("dp_cp", "dp_replicate")


def implemented_rows(step: Step) -> Iterator[Placed]:
    """What the plan's framework sends."""
    strategy = step.scenario.plan.strategy
    for expert in (False, True):
        if not step.numel(expert=expert):
            continue
        shards, replicas = degrees(step, expert=expert)
        inside, across = _names(step, expert=expert)
        if strategy in _FSDP:
            # The layers first: nearly all bytes are theirs.
            for unit in sorted(step.units, key=lambda each: each.root):
                if unit.expert is expert and not never_reduces(step.scenario.plan):
                    calls = _fsdp_unit(step, unit, Degrees(shards, replicas))
                    yield from ((inside if call.ranks == shards else across, call) for call in calls)
        elif shards > 1:
            whole = _whole_calls(step, shards, expert=expert)
            yield from ((_group(step, inside, call), call) for call in whole)


def _group(step: Step, usual: str, call: Call) -> str:
    """ZeRO++ gathers for the backward pass inside the ranks that share a second copy."""
    is_second = usual == "dp_cp" and _second(step) and call.what == "weights_backward"
    return "hpz" if is_second else usual


def _second(step: Step) -> int:
    """Ranks that share a second copy of the dense weights, 0 where there is none."""
    group = step.scenario.plan.runtime.zero_hpz
    return group if group > 1 else 0


def _whole_calls(step: Step, ranks: int, *, expert: bool) -> tuple[Call, ...]:
    plan, numel = step.scenario.plan, step.numel(expert=expert)
    if plan.strategy is Strategy.DDP:
        return (_ddp(step, ranks, expert=expert),)
    if plan.strategy is Strategy.ZERO3:
        return _zero3(step, ranks, expert=expert)
    recipe = step.load.precision
    weights = Call(_AG, numel * recipe.weights, ranks, 1, "weights")
    if step.load.megatron:
        times = 1 if plan.strategy is Strategy.ZERO1 else step.microbatches
        return (Call(_RS, numel * recipe.reduce, ranks, times, "gradients"), weights)
    if plan.framework is Framework.TORCH and plan.strategy is Strategy.ZERO1:
        owned = Call(Collective.BROADCAST, numel * recipe.weights, ranks, 1, "weights", ranks)
        return (_ddp(step, ranks, expert=expert), owned)
    messages = ceil_div(numel, plan.runtime.zero_bucket)
    times = 1 if plan.strategy is Strategy.ZERO1 else step.microbatches
    return (Call(_AR, numel * recipe.reduce, ranks, times, "gradients", messages), weights)


def _ddp(step: Step, ranks: int, *, expert: bool) -> Call:
    """Gradient buckets in the parameters' own type, after every microbatch unless it is told not to.

    Pipelines tell it, and so does Megatron's loop (core/pipeline_parallel/schedules.py, `no_sync_func`).
    """
    plan, item = step.scenario.plan, step.load.precision.weights
    once = plan.runtime.no_sync or plan.axes.pp > 1 or step.load.megatron
    sizes = [numel * item for numel in step.sizes(expert=expert)]
    found = buckets(
        sizes, (min(FIRST_BUCKET, plan.runtime.bucket_bytes), plan.runtime.bucket_bytes or BUCKET)
    )
    return Call(_AR, sum(sizes), ranks, 1 if once else step.microbatches, "gradients", len(found))


def _zero3(step: Step, ranks: int, *, expert: bool) -> tuple[Call, ...]:
    """Parameters above the persistence threshold twice a microbatch, small ones once after the step."""
    recipe, times = step.load.precision, step.microbatches
    sizes = list(step.sizes(expert=expert))
    large = [ceil_div(numel, ranks) * ranks for numel in sizes if not persists(numel)]
    small = [ceil_div(numel, ranks) * ranks for numel in sizes if persists(numel)]
    gathered = sum(large) * recipe.weights
    again = ranks if expert else _second(step) or ranks
    calls = [
        Call(_AG, gathered, ranks, times, "weights_forward", len(large)),
        Call(_AG, gathered, again, times, "weights_backward", len(large)),
        Call(_RS, (sum(large) + sum(small)) * recipe.reduce, ranks, times, "gradients", len(sizes)),
    ]
    if small:
        calls.append(Call(_AG, sum(small) * recipe.weights, ranks, 1, "weights_small", len(small)))
    return tuple(call for call in calls if call.payload)


def _fsdp_unit(step: Step, unit: Unit, degrees: Degrees) -> Iterator[Call]:
    """One kind of unit; torchtitan keeps the model's last layer whole between the passes."""
    runtime = step.scenario.plan.runtime
    ends = step.head and unit.last == step.load.arch.layers - 1
    stays = ends and not runtime.reshard_last and not unit.expert
    return unit_calls(unit, degrees, _habits(step), int(stays))


def _habits(step: Step) -> Habits:
    """torch's pipelines reduce, and free what stays, after the last microbatch (`Load.torch_pipeline`)."""
    plan, recipe, piped = step.scenario.plan, step.load.precision, step.load.torch_pipeline
    return Habits(
        step.microbatches,
        plan.reshard_after_forward,
        plan.runtime.reshard_root,
        reshard_after_backward=plan.reshard_after_forward or not piped,
        sync_every=not (plan.runtime.no_sync or piped),
        gather_bytes=recipe.compute or recipe.weights,
        reduce_bytes=recipe.reduce,
    )
