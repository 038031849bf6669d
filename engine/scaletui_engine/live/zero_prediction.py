"""What a rank should hold under DeepSpeed's ZeRO, from the groups and the parameter shapes alone.

Weights in the parameters' dtype: stages 1 and 2 keep the whole flat buffer with its padding, stage 3 a piece
of every parameter. Master weights, the moments and the copy of the gradients that the optimizer reads are
flat partitions of four bytes an element, one tensor a group.

Gradients are told as they are when PyTorch's optimizer is called for the first group (DeepSpeed 0.19,
runtime/zero/stage_1_and_2.py and stage3.py, `step`). In stages 1 and 2 the copy of that group's partition is
there beside the whole gradients of all parameters that reach into the rank's partitions (`get_flat_partition`
only narrows them), and the padding of the groups whose turn is still to come. In stage 3 the copy is there
beside `grad_partitions_flat_buffer`, which is as long as all pieces. Accumulation over microbatches, the
size of the reduce buckets and overlapped communication change none of this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.held import Held
from scaletui_engine.live.predicted import ZeroLack
from scaletui_engine.memory.fsdp2 import STEP_BYTES, item_bytes
from scaletui_engine.sharding.zero import Zero3Param, zero_buffer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.live.optimizer_rule import OptimizerRule
    from scaletui_engine.live.plan_document import JobPlan, ZeroSettings
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
    dtype: str
    settings: ZeroSettings

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
        """Bytes of weights that each rank keeps: with hpZ a second piece of every parameter, which is cut in
        fewer (`_partition_param_sec` of partition_parameters.py)."""
        if self.stage < 3:
            return self.item * self.buffer.padded
        shards = self.settings.secondary_shards
        whole = (Zero3Param(numel, self.dp).allocated * self.dp for numel in self.numels)
        return self.item * (self.partition + (sum(size // shards for size in whole) if shards else 0))

    @property
    def lack(self) -> ZeroLack | None:
        """Why its gradients are not told, whichever rank it is."""
        settings = self.settings
        if settings.aligned:
            return ZeroLack.ALIGNED
        if settings.quantized:
            return ZeroLack.QUANTIZED
        if self.offload:
            return ZeroLack.OFFLOADED
        if not settings.contiguous and self.stage < 3:
            return ZeroLack.SCATTERED
        return ZeroLack.ACCUMULATED if self._accumulates_anew and self.stage == 1 else None

    @property
    def _accumulates_anew(self) -> bool:
        """Whether gradients are kept in another dtype than that of the parameters."""
        return self.settings.accumulation_dtype not in (None, self.dtype)

    def copy(self, rank: int) -> int:
        """Bytes of the partition's gradients as the optimizer reads them, where they are a copy.

        PyTorch flattens one tensor alone into a view of it, and converts nothing that has its dtype already.
        """
        tensors = len(self.numels)
        if self.stage == 2 and self._accumulates_anew:
            return 0  # `_build_compact_grad_partition_buffer`: what the optimizer reads is what was kept
        if self.stage < 3:
            tensors = len(self.buffer.parts(rank)) + (self.buffer.padding(rank) > 0)
        return 0 if tensors == 1 and self.item == MASTER else MASTER * self.partition

    def gradients(self, rank: int, is_first: bool) -> int:
        """Bytes of gradients as they were reduced, when the first group's turn has come."""
        if self.stage == 3 or (self.stage == 2 and self._accumulates_anew):
            return item_bytes(self.settings.accumulation_dtype or self.dtype) * self.partition
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
        if group.zero.round_robin:
            numels = _in_turns(numels, group.shards)
        item, dtype = item_bytes(rows[0].dtype), rows[0].dtype
        found.append(ZeroGroup(int(stage[1]), group.shards, item, numels, group.offload, dtype, group.zero))
    return tuple(found)


def _in_turns(numels: tuple[int, ...], dp: int) -> tuple[int, ...]:
    """The order of `_round_robin_reorder` (stage_1_and_2.py): every dp-th parameter from the first on, then
    from the second on, and so on."""
    return tuple(numel for turn in range(dp) for numel in numels[turn::dp])


def zero_lack(groups: Sequence[ZeroGroup], rank: int | None) -> ZeroLack | None:
    """What no rule covers; None where everything is told."""
    found = next((group.lack for group in groups if group.lack is not None), None)
    needs_rank = rank is None and any(group.stage < 3 for group in groups)
    return ZeroLack.ELSEWHERE if found is None and needs_rank else found


def zero_held(groups: Sequence[ZeroGroup], rules: Sequence[OptimizerRule] | None, rank: int | None) -> Held:
    """Bytes of one rank: no optimizer without rules (one a group), of what `zero_lack` names nothing.

    `rank` is that among the data-parallel ranks; gradients of stages 1 and 2 need it.
    """
    lack = zero_lack(groups, rank)
    if lack is ZeroLack.ALIGNED:
        return Held()
    partitions = sum(group.partition for group in groups)
    return Held(
        weights=None if lack is ZeroLack.QUANTIZED else sum(group.weights for group in groups),
        gradients=_gradients(groups, rank or 0) if lack is None else None,
        optimizer=None if rules is None else sum(map(_state, groups, rules)),
        master_weights=MASTER * partitions,
    )


def _state(group: ZeroGroup, rule: OptimizerRule) -> int:
    """Moments of the partition, which is one parameter to PyTorch's optimizer, and its step scalars."""
    return rule.moments.copies * MASTER * group.partition + rule.scalars * STEP_BYTES * rule.moments.steps


def _gradients(groups: Sequence[ZeroGroup], rank: int) -> int:
    reduced = (group.gradients(rank, group is groups[0]) for group in groups)
    return groups[0].copy(rank) + sum(reduced)
