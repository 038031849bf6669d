"""torch.chunk: how a length is cut into parts, and who gets an index.

Source: torch 2.13, torch/distributed/tensor/placement_types.py, `Shard.local_shard_size_and_offset` and
`_StridedShard.local_shard_size_and_offset`.
"""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.sharding.intervals import Interval, Intervals, merge
from scaletui_engine.units import ceil_div


def chunk_size(length: int, parts: int) -> int:
    """Size of the first part: what every rank allocates where shards are padded."""
    return ceil_div(length, parts)


def chunk(length: int, parts: int, index: int) -> Interval:
    """Part `index`: [min(n, c r), min(n, c (r + 1))), c = ceil(n / k); late parts are short, then empty."""
    width = chunk_size(length, parts)
    return min(length, width * index), min(length, width * (index + 1))


def chunk_length(length: int, parts: int, index: int) -> int:
    """Elements of part `index`."""
    start, stop = chunk(length, parts, index)
    return stop - start


@dataclass(frozen=True, slots=True)
class Split:
    """A cut into `parts` after a first cut into `factor` pieces, of which every part takes its share."""

    parts: int
    factor: int = 1

    def take(self, length: int, index: int) -> Intervals:
        """The positions of part `index`: its share of each piece, one after the other."""
        if self.factor == 1:
            return merge((chunk(length, self.parts, index),))
        pieces = (chunk(length, self.factor, piece) for piece in range(self.factor))
        return merge(
            (start + low, start + high)
            for start, stop in pieces
            for low, high in (chunk(stop - start, self.parts, index),)
        )

    def length(self, length: int, index: int) -> int:
        """How many positions part `index` has."""
        if self.factor == 1:
            return chunk_length(length, self.parts, index)
        return sum(stop - start for start, stop in self.take(length, index))

    def owner(self, length: int, position: int) -> tuple[int, int]:
        """(part, place within the part) of a position in 0 <= position < length."""
        piece, inside = divmod(position, chunk_size(length, self.factor))
        start, stop = chunk(length, self.factor, piece)
        part, place = divmod(inside, chunk_size(stop - start, self.parts))
        before = sum(
            chunk_length(high - low, self.parts, part)
            for low, high in (chunk(length, self.factor, each) for each in range(piece))
        )
        return part, before + place


@dataclass(frozen=True, slots=True)
class HeadTailSplit:
    """A cut into 2 x `parts` chunks, of which part r takes chunk r and the r-th from the end.

    Context parallelism's split of a sequence; `context.py` names the sources.
    """

    parts: int

    def take(self, length: int, index: int) -> Intervals:
        """The positions of part `index`: one run where both chunks touch."""
        return merge((self._chunk(length, index), self._chunk(length, 2 * self.parts - 1 - index)))

    def length(self, length: int, index: int) -> int:
        """How many positions part `index` has."""
        return sum(stop - start for start, stop in self.take(length, index))

    def owner(self, length: int, position: int) -> tuple[int, int]:
        """(part, place within the part) of a position in 0 <= position < length."""
        piece, inside = divmod(position, chunk_size(length, 2 * self.parts))
        if piece < self.parts:
            return piece, inside
        part = 2 * self.parts - 1 - piece
        return part, chunk_length(length, 2 * self.parts, part) + inside

    def _chunk(self, length: int, piece: int) -> Interval:
        return chunk(length, 2 * self.parts, piece)


@dataclass(frozen=True, slots=True)
class ListedSplit:
    """A cut that follows no rule of size: every part's positions are given, each in exactly one part."""

    held: tuple[Intervals, ...]

    def take(self, length: int, index: int) -> Intervals:
        """The positions of part `index`."""
        del length
        return self.held[index]

    def length(self, length: int, index: int) -> int:
        """How many positions part `index` has."""
        return sum(stop - start for start, stop in self.take(length, index))

    def owner(self, length: int, position: int) -> tuple[int, int]:
        """(part, place within the part) of a position in 0 <= position < length."""
        del length
        for part, intervals in enumerate(self.held):
            before = 0
            for start, stop in intervals:
                if start <= position < stop:
                    return part, before + position - start
                before += stop - start
        raise AssertionError


Cut = Split | HeadTailSplit | ListedSplit
"""How one mesh axis cuts one dim."""
