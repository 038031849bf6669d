"""DeepSpeed's partitions: ZeRO-1 and 2 cut one flat buffer, ZeRO-3 every parameter alone, ZeRO++ twice.

Sources: DeepSpeed runtime/zero/stage_1_and_2.py (nccl_start_alignment_factor 2, _round_robin_reorder),
partition_parameters.py (`_partition_param`), runtime/zero/config.py (stage3_param_persistence_threshold), all
as of edaa722.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.sharding.flat import FlatBuffer, FlatPart, packed
from scaletui_engine.units import ceil_div, round_up

if TYPE_CHECKING:
    from scaletui_engine.sharding.intervals import Interval

ALIGNMENT: Final = 2
"""The flat buffer is padded to this times the data-parallel degree."""
PERSISTENT: Final = 100_000
"""ZeRO-3: a parameter of at most so many elements stays whole on every rank."""


@dataclass(frozen=True, slots=True)
class ZeroBuffer:
    """ZeRO-1/2: a parameter group in one buffer, cut into equal contiguous partitions."""

    buffer: FlatBuffer
    dp: int
    padded: int

    @property
    def partition(self) -> int:
        """Elements of every rank's partition."""
        return self.padded // self.dp

    def range(self, rank: int) -> Interval:
        """A rank's [start, stop) of the buffer."""
        return rank * self.partition, (rank + 1) * self.partition

    def padding(self, rank: int) -> int:
        """Elements of a rank's partition that lie behind the last parameter."""
        start, stop = self.range(rank)
        return max(stop - max(start, self.buffer.length), 0)

    def parts(self, rank: int) -> tuple[FlatPart, ...]:
        """The parameters, or pieces of them, in a rank's partition."""
        return self.buffer.parts(self.range(rank))


def zero_buffer(numels: tuple[int, ...], dp: int, *, round_robin: bool = False) -> ZeroBuffer:
    """The buffer of a parameter group; `round_robin` takes i, i + dp, ... for each rank i first."""
    count = len(numels)
    order = [each for first in range(dp) for each in range(first, count, dp)] if round_robin else range(count)
    buffer = packed(numels, tuple(order))
    return ZeroBuffer(buffer, dp, round_up(buffer.length, ALIGNMENT * dp))


@dataclass(frozen=True, slots=True)
class Zero3Param:
    """ZeRO-3: one parameter, flat, padded to the data-parallel degree and cut equally.

    ZeRO++ hpZ cuts it once more over `dp` ranks of each of `groups`; the padding stays that of all of them
    (`_partition_param_sec`: `_aligned_size // num_ranks_in_param_group`).
    """

    numel: int
    dp: int
    groups: int = 1

    @property
    def allocated(self) -> int:
        """Elements that every rank stores."""
        return ceil_div(self.numel, self.dp * self.groups) * self.groups

    def range(self, rank: int) -> Interval:
        """A rank's own elements of the flattened parameter; empty at its end where only padding is left."""
        first = min(rank * self.allocated, self.numel)
        return first, min(first + self.allocated, self.numel)

    def padding(self, rank: int) -> int:
        """Elements that a rank stores beyond its own."""
        start, stop = self.range(rank)
        return self.allocated - (stop - start)


def persists(numel: int, threshold: int = PERSISTENT) -> bool:
    """Whether ZeRO-3 keeps a parameter whole between the passes (parameter_offload.py,
    `mark_persistent_parameters`).

    `_partition_all_parameters` cuts it before the optimizer's step, `_post_step` gathers it behind; so hpZ's
    second copy of it is never used, and `invalidate_secondary_tensor` drops it in the same step. The slice
    (`ds_tensor`) is there all the time: seen on two ranks of DeepSpeed 0.19.8, before and in the step.
    """
    return numel <= threshold
