"""The stretch of time that is on the screen, and the cells that it is drawn on."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Final

_EDGE: Final = 1e-9
MOST_CELLS: Final = 24
"""Cells of a typical forward pass, beyond which nothing is gained by zooming in."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `start` to `end`, in equal columns."""

    start: float
    end: float
    columns: int

    @property
    def per_column(self) -> float:
        """Time that one column stands for."""
        return (self.end - self.start) / self.columns

    def column(self, time: float) -> int:
        """The column in which a time lies, or its left edge; outside of the stretch beyond its columns."""
        return floor((time - self.start) / self.per_column + _EDGE)


@dataclass(frozen=True, slots=True)
class Scene:
    """What there is to show: its length, the typical forward pass in it, and the columns for it."""

    total: float
    unit: float
    columns: int
    regular: bool = True
    """Whether actions take whole units, so that whole cells for a unit draw equal ones equal."""


def cells_per_unit(scene: Scene, zoom: int) -> float:
    """Cells for a typical forward pass, about doubled by each zoom; zoom 0 shows everything."""
    cells = scene.columns * scene.unit / scene.total * 2**zoom
    return _rounded(cells) if scene.regular else cells


def _rounded(cells: float) -> float:
    """Down to whole cells; one and a half where a whole one would leave much of the screen empty."""
    if cells < 1 - _EDGE:
        return cells
    return floor(cells * 2 + _EDGE) / 2 if cells < 2 - _EDGE else float(floor(cells + _EDGE))


def deepest_zoom(scene: Scene) -> int:
    """The last zoom that still shows more."""
    zoom = 0
    while cells_per_unit(scene, zoom + 1) <= MOST_CELLS:
        zoom += 1
    return zoom


def readable_zoom(scene: Scene, shortest: float, cells: float) -> int:
    """The first zoom that gives a short action that many cells, or the deepest."""
    deepest = deepest_zoom(scene)
    wide = (z for z in range(deepest) if cells_per_unit(scene, z) * shortest / scene.unit >= cells)
    return next(wide, deepest)


def stretch_of(scene: Scene, zoom: int, position: float, pan: int) -> Stretch:
    """The page on which the position lies, moved by `pan` half pages; pages overlap by a quarter."""
    span = scene.columns / cells_per_unit(scene, zoom) * scene.unit
    if span >= scene.total * (1 - _EDGE):
        return Stretch(0.0, span, scene.columns)
    stride = span * 3 / 4
    start = max(floor(position / stride + _EDGE) * stride + pan * span / 2, 0.0)
    column = span / scene.columns
    last = ceil((scene.total - span) / column - _EDGE)
    start = min(floor(start / column + _EDGE), last) * column
    return Stretch(start, start + span, scene.columns)
