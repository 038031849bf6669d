"""One dim of a tensor as bands with one owner each; a band stands for several where cells are few."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui_engine.sharding.layout import Layout
    from scaletui_engine.sharding.rankset import RankSet
    from scaletui_engine.sharding.runs import Run


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
        if self.runs:
            origin = start
            run = self.runs[max(bisect_right(self.runs, position - origin, key=lambda run: run[0]) - 1, 0)]
            start, stop, place = origin + run[0], min(origin + run[1], stop), run[2]
            stop = max(stop, position + 1)
        edge = self.bound * self.unit
        if start < edge < stop:
            start, stop = (start, edge) if position < edge else (edge, stop)
        return Band(start, stop, found.ranks, place, is_padding=0 < edge <= position)

    def bands(self, cells: int) -> tuple[Band, ...]:
        """At most that many."""
        found: list[Band] = []
        position = 0
        while position < self.length and len(found) <= cells:
            found.append(self.at(position))
            position = found[-1].stop
        return tuple(found) if len(found) <= cells else self._sampled(cells)

    def _sampled(self, cells: int) -> tuple[Band, ...]:
        """Whole bands that begin in one cell together, with the first and the last of them."""
        marks = {self.at(self.length * cell // cells).start for cell in range(cells)}
        edges = [*sorted(marks), self.length]
        bands = []
        for start, stop in pairwise(edges):
            first, last = self.at(start), self.at(stop - 1)
            bands.append(replace(first, start=start, stop=stop, last=last if stop > first.stop else None))
        return tuple(bands)
