"""Parameters laid end to end in one buffer: where each lies, and what a rank's piece of the buffer holds."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from scaletui_engine.sharding.intervals import Interval, overlap


@dataclass(frozen=True, slots=True)
class FlatPart:
    """The elements of one parameter that lie in a piece of a buffer."""

    param: int
    """Index in the order in which the parameters were given."""
    intra: Interval
    """[start, stop) within the flattened parameter."""
    offset: int
    """Where they begin within the piece."""

    @property
    def numel(self) -> int:
        """How many elements."""
        return self.intra[1] - self.intra[0]


@dataclass(frozen=True, slots=True)
class FlatBuffer:
    """Where every parameter lies, in the order of the buffer; gaps are padding."""

    params: tuple[int, ...]
    starts: tuple[int, ...]
    numels: tuple[int, ...]
    length: int
    """With all padding."""

    @property
    def numel(self) -> int:
        """Elements that are no padding."""
        return sum(self.numels)

    def parts(self, piece: Interval) -> tuple[FlatPart, ...]:
        """What lies in [start, stop) of the buffer."""
        found: list[FlatPart] = []
        first = max(bisect_right(self.starts, piece[0]) - 1, 0)
        for index in range(first, len(self.starts)):
            start = self.starts[index]
            if start >= piece[1]:
                break
            low, high = overlap(piece, (start, start + self.numels[index]))
            if low < high:
                found.append(FlatPart(self.params[index], (low - start, high - start), low - piece[0]))
        return tuple(found)

    def place(self, param: int) -> Interval:
        """[start, stop) of a parameter in the buffer."""
        index = self.params.index(param)
        return self.starts[index], self.starts[index] + self.numels[index]


@lru_cache(maxsize=256)
def packed(numels: tuple[int, ...], params: tuple[int, ...], align: int = 1) -> FlatBuffer:
    """Parameters one after the other in the order of `params`, each start at a multiple of `align`."""
    starts: list[int] = []
    end = 0
    for param in params:
        start = -(-end // align) * align
        starts.append(start)
        end = start + numels[param]
    return FlatBuffer(params, tuple(starts), tuple(numels[param] for param in params), end)
