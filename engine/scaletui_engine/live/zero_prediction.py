"""What a rank should hold under DeepSpeed's ZeRO, from the groups and the parameter shapes alone.

Weights in the parameters' dtype: stages 1 and 2 keep the whole flat buffer with its padding, stage 3 a piece
of every parameter. Master weights, the moments and the copy of the gradients that the optimizer reads are
flat partitions of four bytes an element, one tensor a group.

Gradients are told as they are when PyTorch's optimizer is called for the first group (DeepSpeed 0.19,
runtime/zero/stage_1_and_2.py and stage3.py, `step`). In stages 1 and 2 the copy of that group's partition is
there beside the whole gradients of all parameters that reach into the rank's partitions (`get_flat_partition`
only narrows them), and the padding of the groups whose turn is still to come. In stage 3 the copy is there
beside `grad_partitions_flat_buffer`, which is as long as all pieces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.held import Held
from scaletui_engine.memory.fsdp2 import STEP_BYTES, item_bytes
from scaletui_engine.sharding.zero import Zero3Param, zero_buffer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.live.optimizer_rule import OptimizerRule
    from scaletui_engine.live.plan_document import JobPlan
    from scaletui_engine.sharding.zero import ZeroBuffer

MASTER: Final = 4
"""Bytes an element of a master weight, a moment and a gradient as the optimizer reads it."""
_NAME: Final = re.compile(r"zero([123])\.\d{1,6}")


@dataclass(frozen=True, slots=True)
class ZeroGroup:
    """Parameters that share a flat buffer, in its order."""

    stage: int
    dp: int
    item: int
    """Bytes an element of the weights."""
    numels: tuple[int, ...]
    offload: bool

    @property
    def buffer(self) -> ZeroBuffer:
        """The flat buffer of stages 1 and 2."""
        return zero_buffer(self.numels, self.dp)

    @property
    def partition(self) -> int:
        """Elements that each rank's optimizer updates."""
        if self.stage < 3:
            return self.buffer.partition
        return sum(Zero3Param(numel, self.dp).allocated for numel in self.numels)

    @property
    def weights(self) -> int:
        """Bytes of weights that each rank keeps."""
        return self.item * (self.buffer.padded if self.stage < 3 else self.partition)

    def copy(self, rank: int) -> int:
        """Bytes of the partition's gradients as the optimizer reads them, where they are a copy.

        PyTorch flattens one tensor alone into a view of it, and converts nothing that has its dtype already.
        """
        tensors = len(self.numels)
        if self.stage < 3:
            tensors = len(self.buffer.parts(rank)) + (self.buffer.padding(rank) > 0)
        return 0 if tensors == 1 and self.item == MASTER else MASTER * self.partition

    def gradients(self, rank: int, is_first: bool) -> int:
        """Bytes of gradients in the parameters' dtype when the first group's turn has come."""
        if self.stage == 3:
            return self.item * self.partition
        reached = sum(self.numels[part.param] for part in self.buffer.parts(rank))
        return self.item * (reached + (0 if is_first else self.buffer.padding(rank)))


def zero_groups(plan: JobPlan) -> tuple[ZeroGroup, ...]:
    """The groups of a plan; none where its wrapper is none of ZeRO's. Raises ValueRangeError for a dtype."""
    found: list[ZeroGroup] = []
    for number, group in enumerate(plan.groups):
        stage = _NAME.fullmatch(group.name)
        rows = [row for row in plan.parameters if row.fsdp_group == number]
        if stage is None or not rows or not group.shards:
            return ()
        numels = tuple(prod(row.shape) for row in rows)
        found.append(ZeroGroup(int(stage[1]), group.shards, item_bytes(rows[0].dtype), numels, group.offload))
    return tuple(found)


def zero_held(groups: Sequence[ZeroGroup], rules: Sequence[OptimizerRule] | None, rank: int | None) -> Held:
    """Bytes of one rank; no optimizer without rules (one a group), no gradients where they are offloaded.

    `rank` is that among the data-parallel ranks; gradients of stages 1 and 2 need it.
    """
    partitions = sum(group.partition for group in groups)
    return Held(
        weights=sum(group.weights for group in groups),
        gradients=_gradients(groups, rank),
        optimizer=None if rules is None else sum(map(_state, groups, rules)),
        master_weights=MASTER * partitions,
    )


def _state(group: ZeroGroup, rule: OptimizerRule) -> int:
    """Moments of the partition, which is one parameter to PyTorch's optimizer, and its step scalars."""
    return rule.moments.copies * MASTER * group.partition + rule.scalars * STEP_BYTES * rule.moments.steps


def _gradients(groups: Sequence[ZeroGroup], rank: int | None) -> int | None:
    needs_rank = any(group.stage < 3 for group in groups)
    if any(group.offload for group in groups) or (needs_rank and rank is None):
        return None
    in_parameters_dtype = (group.gradients(rank or 0, group is groups[0]) for group in groups)
    return groups[0].copy(rank or 0) + sum(in_parameters_dtype)
