"""A stretch of time cut into columns: what each rank does in each, at any zoom."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class Spending:
    """What one rank has spent in each kind by the start of each of its cells; pairs count once."""

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    weight: NDArray[np.float64]
    """[cells, 4] the kinds F, I, W, B of a cell: one whole, or a pair's two halves."""
    before: NDArray[np.float64]
    """[cells, 4] time spent in each kind before a cell."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to `end`, in equal columns."""

    start: float
    end: float
    columns: int

    @property
    def edges(self) -> NDArray[np.float64]:
        """[columns + 1] times of the edges. Raises ValueRangeError for a window without width."""
        if self.columns < 1 or not self.end > self.start:
            found = f"window from {self.start:g} to {self.end:g} in {self.columns} columns"
            raise ValueRangeError(f"{found} has no width")
        return np.linspace(self.start, self.end, self.columns + 1)


def whole(timeline: Timeline, columns: int) -> Window:
    """The window from 0 to the makespan."""
    return Window(0.0, timeline.makespan, columns)


def actions_in(timeline: Timeline, window: Window) -> NDArray[np.int64]:
    """[ranks, columns] index of the action that runs in the middle of each column, `NOTHING` where none does.

    A pair answers with its forward.
    """
    edges = window.edges
    return actions_at(timeline, (edges[:-1] + edges[1:]) / 2)


def actions_at(timeline: Timeline, times: NDArray[np.float64]) -> NDArray[np.int64]:
    """[ranks, times] index of the action that runs at each time, `NOTHING` where none does."""
    found = np.full((timeline.schedule.ranks, len(times)), NOTHING, dtype=np.int64)
    for rank, cells in enumerate(_cells(timeline)):
        place = np.searchsorted(timeline.start[cells], times, side="right") - 1
        index = cells[np.maximum(place, 0)]
        running = (place >= 0) & (times < timeline.end[index])
        found[rank] = np.where(running, index, NOTHING)
    return found


def spending_of(timeline: Timeline) -> tuple[Spending, ...]:
    """One entry a rank, for asking `density` many times."""
    return tuple(_spending(timeline, cells) for cells in _cells(timeline))


def density(timeline: Timeline, window: Window) -> NDArray[np.float64]:
    """[ranks, columns, 4] the share of each column that each rank spends in F, I, W and B.

    A pair's time counts half for F and half for B. The shares of a column add up to at most 1.
    """
    return density_of(spending_of(timeline), window)


def density_of(spending: tuple[Spending, ...], window: Window) -> NDArray[np.float64]:
    """The same from what `spending_of` has prepared."""
    edges = window.edges
    shares = np.empty((len(spending), window.columns, 4))
    for rank, spent in enumerate(spending):
        place = np.searchsorted(spent.start, edges, side="right")
        at = np.maximum(place - 1, 0)
        start, length = spent.start[at], (spent.end - spent.start)[at]
        into = np.clip(edges - start, 0.0, length) * (place > 0)
        shares[rank] = np.diff(spent.before[at] + spent.weight[at] * into[:, None], axis=0)
    return shares / float(edges[1] - edges[0])


def _cells(timeline: Timeline) -> list[NDArray[np.int64]]:
    row, joined = timeline.table.row.tolist(), timeline.table.joined
    return [first + np.flatnonzero(~joined[first:stop]) for first, stop in pairwise(row)]


def _spending(timeline: Timeline, cells: NDArray[np.int64]) -> Spending:
    table = timeline.table
    weight = np.zeros((len(cells), 4))
    rows = np.arange(len(cells))
    weight[rows, table.kind[cells]] += 0.5
    weight[rows, table.kind[table.last[cells]]] += 0.5
    start, end = timeline.start[cells], timeline.end[cells]
    spent = weight * (end - start)[:, None]
    return Spending(start, end, weight, np.cumsum(spent, axis=0) - spent)
