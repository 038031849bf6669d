"""Megatron's distributed optimizer: one buffer in reverse order, cut without regard to parameters.

Source: Megatron-LM core/distributed/param_and_grad_buffer.py and core/optimizer/distrib_optimizer.py:
starts at multiples of 64 elements, bucket ends at multiples of lcm(dp, 128).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Final

from scaletui_engine.sharding.flat import FlatBuffer, FlatPart
from scaletui_engine.units import round_up

if TYPE_CHECKING:
    from collections.abc import Collection

    from scaletui_engine.sharding.intervals import Interval

START: Final = 64
END: Final = 128
HIGH_BUSBW: Final = 1 << 16
"""`pad_buckets_for_high_nccl_busbw` pads to a multiple of this too."""


@dataclass(frozen=True, slots=True)
class BufferRule:
    """The switches that move the ends of buckets."""

    dp: int
    bucket_size: int | None = None
    """A bucket closes when it has so many elements; None is one bucket."""
    high_busbw: bool = False
    shared_embedding: Collection[int] = ()
    """Parameters that get a bucket of their own."""

    @property
    def end(self) -> int:
        """What the end of a bucket is a multiple of."""
        return lcm(self.dp, END, HIGH_BUSBW) if self.high_busbw else lcm(self.dp, END)


@dataclass(frozen=True, slots=True)
class OptimizerBuffer:
    """Parameters, buckets and every rank's piece of each bucket."""

    buffer: FlatBuffer
    buckets: tuple[Interval, ...]
    bucket_of: tuple[int, ...]
    """Bucket of each parameter, in the order of the buffer."""
    dp: int

    @property
    def partition(self) -> int:
        """Elements of every rank's pieces."""
        return self.buffer.length // self.dp

    def pieces(self, rank: int) -> tuple[Interval, ...]:
        """A rank's piece of each bucket."""
        return tuple(
            (start + rank * width, start + (rank + 1) * width)
            for start, stop in self.buckets
            for width in ((stop - start) // self.dp,)
        )

    def parts(self, rank: int) -> tuple[FlatPart, ...]:
        """The parameters, or pieces of them, that a rank updates."""
        return tuple(part for piece in self.pieces(rank) for part in self.buffer.parts(piece))


def optimizer_buffer(
    numels: tuple[int, ...], rule: BufferRule, blocks: tuple[tuple[int, ...], ...] | None = None
) -> OptimizerBuffer:
    """The buffer of those parameters, given in module order; `blocks` are those that are parts of one."""
    builder = _Builder(rule)
    for block in reversed(blocks or tuple((param,) for param in range(len(numels)))):
        builder.add(block, numels)
    return builder.done()


class _Builder:
    """The walk over the parameters; a bucket is open from `first` on."""

    def __init__(self, rule: BufferRule) -> None:
        self.rule = rule
        self.params: list[tuple[int, int, int, int]] = []
        self.buckets: list[Interval] = []
        self.first = self.end = 0
        self.open = False

    def add(self, block: tuple[int, ...], numels: tuple[int, ...]) -> None:
        alone = block[0] in self.rule.shared_embedding
        start = round_up(self.end, START)
        if alone and self.open:
            self.close(start)
            start = self.end
        self.end, self.open = start, True
        for param in block:
            self.params.append((param, self.end, numels[param], len(self.buckets)))
            self.end += numels[param]
        full = self.rule.bucket_size is not None and self.end - self.first >= self.rule.bucket_size
        if alone or full:
            self.close(self.end)

    def close(self, end: int) -> None:
        self.end = round_up(end, self.rule.end)
        self.buckets.append((self.first, self.end))
        self.first, self.open = self.end, False

    def done(self) -> OptimizerBuffer:
        if self.open:
            self.close(self.end)
        params, starts, numels, buckets = (tuple(column) for column in zip(*self.params, strict=True))
        buffer = FlatBuffer(params, starts, numels, self.end)
        return OptimizerBuffer(buffer, tuple(self.buckets), buckets, self.rule.dp)
