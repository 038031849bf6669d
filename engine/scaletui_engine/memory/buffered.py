"""ZeRO-1 and 2: states that are cut as one flat buffer, padded once and not parameter by parameter.

Sources: DeepSpeed edaa722, runtime/zero/stage_1_and_2.py (`flatten_dense_tensors_aligned` to
nccl_start_alignment_factor x the data-parallel ranks, `partition_size`); Megatron-LM d98e8a6,
core/optimizer/param_layout.py (`pad_param_start`, `pad_bucket_end`). Their rules are in `sharding/`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from scaletui_engine.model import Role
from scaletui_engine.optimizers import optimizer, state_bytes, step_bytes
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.distributed_optimizer import START, BufferRule
from scaletui_engine.sharding.fused_names import fused_name
from scaletui_engine.sharding.zero import ALIGNMENT
from scaletui_engine.units import round_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scaletui_engine.memory.census import Unit
    from scaletui_engine.memory.load import Load
    from scaletui_engine.memory.states import States


def buffered(states: States, units: Sequence[tuple[Unit, int]], load: Load) -> States:
    """The states of a rank's units, each so many times, with what one buffer holds of them.

    An optimizer that needs whole matrices keeps its own count.
    """
    if load.plan.strategy not in (Strategy.ZERO1, Strategy.ZERO2) or load.shard == 1:
        return states
    rule, recipe = optimizer(load.plan.optimizer), load.precision
    if rule.factored or rule.matrices:
        return states
    parts = [partition(units, load, expert=expert) for expert in (False, True)]
    moments = sum(state_bytes(rule, recipe, (part,), Role.MLP) for part in parts if part)
    if rule.step_on_device:
        trained = (
            tensor.copies * count for unit, count in units for tensor in unit.tensors if tensor.trainable
        )
        moments += step_bytes(rule, sum(trained))
    cut = load.plan.strategy.shards_gradients
    return replace(
        states,
        gradients=sum(parts) * recipe.gradients if cut else states.gradients,
        optimizer=moments,
        master_weights=sum(parts) * recipe.master,
    )


def partition(units: Sequence[tuple[Unit, int]], load: Load, *, expert: bool) -> int:
    """Elements of a rank's partition of the dense parameters, or of the experts; 0 where there are none.

    Without ranks to share with nothing is padded.
    """
    degree = load.expert_shard if expert else load.shard
    start = START if load.megatron and degree > 1 else 1
    end = BufferRule(degree).end if load.megatron else ALIGNMENT * degree
    total = sum(
        round_up(size, start) * count
        for unit, count in units
        for size in _sizes(unit, expert=expert, fused=load.megatron)
    )
    return round_up(total, end) // degree if degree > 1 else total


def _sizes(unit: Unit, *, expert: bool, fused: bool) -> Iterable[int]:
    """Elements of each parameter that the buffer lists: of fused ones together."""
    sizes = Counter[str]()
    for tensor in unit.tensors:
        if tensor.expert is expert and tensor.trainable:
            sizes[fused_name(tensor.name) if fused else tensor.name] += tensor.numel
    return sizes.values()
