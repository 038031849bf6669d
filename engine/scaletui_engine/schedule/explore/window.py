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


def density(timeline: Timeline, window: Window) -> NDArray[np.float64]:
    """[ranks, columns, 4] the share of each column that each rank spends in F, I, W and B.

    A pair's time counts half for F and half for B. The shares of a column add up to at most 1.
    """
    edges = window.edges
    shares = np.empty((timeline.schedule.ranks, window.columns, 4))
    for rank in range(timeline.schedule.ranks):
        start, end, weight = _spent(timeline, rank)
        before = np.concatenate((np.zeros((1, 4)), np.cumsum(weight * (end - start)[:, None], axis=0)))
        place = np.searchsorted(start, edges, side="right")
        at = np.maximum(place - 1, 0)
        into = np.clip(edges - start[at], 0.0, (end - start)[at]) * (place > 0)
        total = before[at] + weight[at] * into[:, None]
        shares[rank] = np.diff(total, axis=0)
    return shares / float(edges[1] - edges[0])


def _cells(timeline: Timeline) -> list[NDArray[np.int64]]:
    row, joined = timeline.table.row.tolist(), timeline.table.joined
    return [first + np.flatnonzero(~joined[first:stop]) for first, stop in pairwise(row)]


def _spent(
    timeline: Timeline, rank: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Starts, ends and kinds [cells, 4] of a rank's cells."""
    table = timeline.table
    cells = _cells(timeline)[rank]
    weight = np.zeros((len(cells), 4))
    rows = np.arange(len(cells))
    np.add.at(weight, (rows, table.kind[cells]), 0.5)
    np.add.at(weight, (rows, table.kind[table.last[cells]]), 0.5)
    return timeline.start[cells], timeline.end[cells], weight
