"""A timeline made ready for questions: built once, asked at every key."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.kind import COMPUTE
from scaletui_engine.schedule.table import Finder, finder_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """The cells of one rank in time order; a pair is one cell."""

    cell: NDArray[np.int64]
    """Index of the cell's action in the table, the first of a pair."""
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    share: NDArray[np.float64]
    """[cells, 4] which kind the cell's time counts for: a pair half F, half B."""
    spent: NDArray[np.float64]
    """[cells + 1, 4] time spent on each kind before each cell, and in all."""


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A timeline, its lanes, and where every stage and microbatch is."""

    timeline: Timeline
    lanes: tuple[Lane, ...]
    finder: Finder


def chart_of(timeline: Timeline) -> Chart:
    """Some milliseconds for a large schedule."""
    row: list[int] = timeline.table.row.tolist()
    schedule = timeline.schedule
    lanes = tuple(_lane(timeline, first, stop) for first, stop in pairwise(row))
    return Chart(timeline, lanes, finder_of(timeline.table, schedule.stages, schedule.units))


def _lane(timeline: Timeline, first: int, stop: int) -> Lane:
    table = timeline.table
    cell: NDArray[np.int64] = first + np.flatnonzero(~table.joined[first:stop])
    start, end = timeline.start[cell], timeline.end[cell]
    kinds = np.arange(len(COMPUTE))
    share = 0.5 * (table.kind[cell, None] == kinds) + 0.5 * (table.kind[table.last[cell], None] == kinds)
    spent = np.zeros((len(cell) + 1, len(COMPUTE)))
    np.cumsum(share * (end - start)[:, None], axis=0, out=spent[1:])
    return Lane(cell, start, end, share, spent)
