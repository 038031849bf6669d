"""One dim of a tensor as bands with one owner each; a band stands for several where cells are few."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.sharding.placement import Kind

if TYPE_CHECKING:
    from scaletui_engine.sharding.layout import Layout
    from scaletui_engine.sharding.rankset import RankSet
    from scaletui_engine.sharding.runs import Run


LEAST_USED: Final = 3
"""One cell of so many is used at least."""


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of a dim, in units of the axis it lies on."""

    start: int
    stop: int
    ranks: RankSet
    """Who holds its first index, flat cuts left out."""
    place: int | None = None
    """Which of the flat runs it is."""
    is_padding: bool = False
    last: Band | None = None
    """The last of the bands that it stands for."""


@dataclass(frozen=True, slots=True)
class BandAxis:
    """A dim of a layout; a unit is an index, or one element where runs cut through the rows."""

    layout: Layout
    dim: int
    unit: int = 1
    """Elements of one index in a rank's piece."""
    runs: tuple[Run, ...] = ()
    unlike: tuple[tuple[Run, ...], ...] = ()
    """The runs of every part along the dim, where its parts are cut each in its own way."""
    bound: int = 0
    """Indices of the tensor itself; what lies behind pads it."""

    @property
    def length(self) -> int:
        """Units of the whole dim."""
        return self.layout.shape[self.dim] * self.unit

    def at(self, position: int) -> Band:
        """The band that a unit lies in."""
        found = self.layout.segment(self.dim, position // self.unit)
        start, stop = (edge * self.unit for edge in found.interval)
        place = None
        if runs := self._runs(found.ranks):
            origin = start
            run = runs[max(bisect_right(runs, position - origin, key=lambda run: run[0]) - 1, 0)]
            start, stop, place = origin + run[0], min(origin + run[1], stop), run[2]
            stop = max(stop, position + 1)
        edge = self.bound * self.unit
        if start < edge < stop:
            start, stop = (start, edge) if position < edge else (edge, stop)
        return Band(start, stop, found.ranks, place, is_padding=0 < edge <= position)

    def _runs(self, ranks: RankSet) -> tuple[Run, ...]:
        if not self.unlike:
            return self.runs
        part = ranks.fixed[self.layout.cutting(self.dim)[0]]
        return self.unlike[part or 0]

    def bands(self, cells: int) -> tuple[Band, ...]:
        """At most that many."""
        return _bands(self, cells)

    def cut(self, cells: int) -> tuple[Band, ...]:
        """The same, found anew."""
        found: list[Band] = []
        position = 0
        while position < self.length and len(found) <= cells:
            found.append(self.at(position))
            position = found[-1].stop
        if len(found) <= cells:
            return tuple(found)
        return self._joined(self._even_marks(cells) or self._marks(cells))

    def _even_marks(self, cells: int) -> set[int]:
        """Starts of bands in equal groups that never mix owners further out: 4 of a tp rank's 8 dp ranks.

        Empty where a part along the dim is no single run, or where such groups would leave most cells unused.
        """
        places = self.layout.cutting(self.dim)
        sizes = [self.layout.mesh.shape[place] for place in places] + [len(self.runs) or 1]
        if {self.layout.placements[place].kind for place in places} - {Kind.SHARD}:
            return set()
        step = group_size(tuple(sizes), cells)
        if prod(sizes) // step * LEAST_USED < cells:
            return set()
        found = (self._start(places, number, sizes) for number in range(0, prod(sizes), step))
        return {start for start in found if start is not None}

    def _start(self, places: tuple[int, ...], number: int, sizes: list[int]) -> int | None:
        """Where the part of that number begins, counted as the axes cut; None where it is empty."""
        coordinate = [0] * len(self.layout.mesh.axes)
        number, run = divmod(number, sizes[-1])
        for place, size in zip(reversed(places), reversed(sizes[:-1]), strict=True):
            number, coordinate[place] = divmod(number, size)
        held = self.layout.along(self.dim, tuple(coordinate))
        return held[0][0] * self.unit + (self.runs[run][0] if self.runs else 0) if held else None

    def _marks(self, cells: int) -> set[int]:
        """Starts of the bands in which cells begin."""
        return {self.at(self.length * cell // cells).start for cell in range(cells)}

    def _joined(self, marks: set[int]) -> tuple[Band, ...]:
        """Whole bands that begin in one cell together, with the first and the last of them."""
        edges = [*sorted(marks), self.length]
        bands = []
        for start, stop in pairwise(edges):
            first, last = self.at(start), self.at(stop - 1)
            bands.append(replace(first, start=start, stop=stop, last=last if stop > first.stop else None))
        return tuple(bands)


@lru_cache(maxsize=64)
def _bands(axis: BandAxis, cells: int) -> tuple[Band, ...]:
    """Another rank is looked at more often than another tensor."""
    return axis.cut(cells)


def group_size(sizes: tuple[int, ...], cells: int) -> int:
    """The fewest parts in one group so that the groups fit: a divisor of the innermost axis, or all of it.

    `sizes` are those of the axes that cut, outermost first. Without cells to spare, all parts are one group.
    """
    total, inner = prod(sizes), 1
    for size in reversed(sizes):
        for each in (each for each in range(1, size + 1) if size % each == 0):
            if total // (inner * each) <= cells:
                return inner * each
        inner *= size
    return total
