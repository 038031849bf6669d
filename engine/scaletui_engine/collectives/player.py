"""What a picture of a collective shows after each step: who has which block, and the bytes so far.

A block is known by the ranks whose values are in it, one bit a rank. Sums collect bits; a copy hands them on.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from scaletui_engine.collectives.step import Procedure, Transfer

KEPT_EVERY: Final = 16
"""Frames between two that stay in memory."""
Held = tuple[tuple[int, ...], ...]
"""For every rank and block the ranks whose values it holds, as bits; 0 for nothing of use."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One moment; frame 0 is before the first step."""

    index: int
    moving: tuple[Transfer, ...]
    """The messages that arrive in this frame."""
    held: Held
    spent: tuple[int, ...]
    """For every rank the blocks, as bits, whose sum has gone on to another rank: of no more use."""
    sent: tuple[int, ...]
    """Bytes that every rank has sent so far."""

    @property
    def terms(self) -> tuple[tuple[int, ...], ...]:
        """For every rank and block, how many ranks' values are summed in it."""
        return tuple(tuple(bits.bit_count() for bits in blocks) for blocks in self.held)

    def arrives(self, rank: int) -> tuple[Transfer, ...]:
        """The messages that reach a rank in this frame."""
        return tuple(each for each in self.moving if each.target == rank)

    def leaves(self, rank: int) -> tuple[Transfer, ...]:
        """The messages that a rank sends in this frame."""
        return tuple(each for each in self.moving if each.source == rank)


class Player:
    """A procedure cut at every boundary between blocks.

    It keeps the latest frame and every n-th, so that a step on costs a step, and a step back few.
    """

    def __init__(self, procedure: Procedure, item: int = 1, first: Held | None = None) -> None:
        """`item` is the bytes of an element; `first` what every rank's array holds before the first step.

        By default every rank begins with its own values in every block.
        """
        self.procedure, self.item = procedure, item
        self.starts = block_starts(procedure)
        """First element of every block."""
        own = tuple((1 << rank,) * len(self.starts) for rank in range(procedure.ranks))
        held = own if first is None else first
        self._first = Frame(0, (), held, (0,) * procedure.ranks, (0,) * procedure.ranks)
        self._kept = [self._first]
        self._latest = self._first

    @property
    def last(self) -> int:
        """Index of the last frame."""
        return len(self.procedure.steps)

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """Bytes that every rank has sent at the end."""
        sums = [0] * self.procedure.ranks
        for step in self.procedure.steps:
            for each in step.transfers:
                sums[each.source] += each.elements * self.item
        return tuple(sums)

    def frame(self, index: int) -> Frame:
        """The moment after so many steps. Raises ValueRangeError for one that there is not."""
        if not 0 <= index <= self.last:
            raise ValueRangeError(f"frame {index} is not in 0 <= frame <= {self.last} steps")
        kept = self._kept[min(index // KEPT_EVERY, len(self._kept) - 1)]
        found = self._latest if kept.index <= self._latest.index <= index else kept
        while found.index < index:
            found = self._after(found)
            if found.index == len(self._kept) * KEPT_EVERY:
                self._kept.append(found)
        self._latest = found
        return found

    def blocks(self, start: int, stop: int) -> range:
        """The blocks that lie in a run of elements."""
        return range(bisect_right(self.starts, start) - 1, bisect_right(self.starts, stop - 1))

    def lands(self, transfer: Transfer) -> range:
        """The receiver's blocks that a message fills."""
        return self.blocks(*transfer.lands)

    def _after(self, frame: Frame) -> Frame:
        """Messages of a step are read before any is written; those with a place read the first arrays."""
        step = self.procedure.steps[frame.index]
        held, sent, spent = list(map(list, frame.held)), list(frame.sent), list(frame.spent)
        for each in step.transfers:
            origin = self._first.held if each.place is not None else frame.held
            sent[each.source] += each.elements * self.item
            read, written = self.blocks(each.start, each.stop), self.lands(each)
            for source, target in zip(read, written, strict=True):
                bits = origin[each.source][source]
                held[each.target][target] = held[each.target][target] | bits if each.add else bits
            if each.add:
                spent[each.source] |= _mask(read)
        for each in step.transfers:
            spent[each.target] &= ~_mask(self.lands(each))
        whole = tuple(map(tuple, held))
        return Frame(frame.index + 1, step.transfers, whole, tuple(spent), tuple(sent))


def block_starts(procedure: Procedure) -> tuple[int, ...]:
    """Where the blocks begin: at every boundary of a message."""
    messages = [each for step in procedure.steps for each in step.transfers]
    cuts = {0} | {each.start for each in messages} | {each.stop for each in messages}
    cuts |= {edge for each in messages if each.place is not None for edge in each.lands}
    return tuple(sorted(cut for cut in cuts if cut < max(procedure.elements, 1)))


def _mask(blocks: range) -> int:
    return (1 << blocks.stop) - (1 << blocks.start) if blocks else 0
