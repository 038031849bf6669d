"""A stretch of time cut into columns: what each rank does in each, at any zoom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.explore.chart import Chart, Lane


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


def whole(chart: Chart, columns: int) -> Window:
    """The window from 0 to the makespan."""
    return Window(0.0, chart.timeline.makespan, columns)


def actions_in(chart: Chart, window: Window) -> NDArray[np.int64]:
    """[ranks, columns] index of the action that runs in the middle of each column, `NOTHING` where none does.

    A pair answers with its forward.
    """
    edges = window.edges
    middle = (edges[:-1] + edges[1:]) / 2
    return np.stack([actions_at(lane, middle) for lane in chart.lanes])


def actions_at(lane: Lane, times: NDArray[np.float64]) -> NDArray[np.int64]:
    """[times] index of the action that runs at each time, its start included, `NOTHING` where none does."""
    place = np.searchsorted(lane.start, times, side="right") - 1
    at = np.maximum(place, 0)
    running = (place >= 0) & (times < lane.end[at])
    return np.where(running, lane.cell[at], NOTHING)


def density(chart: Chart, window: Window) -> NDArray[np.float64]:
    """[ranks, columns, 4] the share of each column that each rank spends in F, I, W and B.

    A pair's time counts half for F and half for B. The shares of a column add up to at most 1.
    """
    edges = window.edges
    spent = np.stack([np.diff(_spent_by(lane, edges), axis=0) for lane in chart.lanes])
    return spent / float(edges[1] - edges[0])


def _spent_by(lane: Lane, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """[times, 4] time spent on each kind up to each time."""
    place = np.searchsorted(lane.start, times, side="right")
    at = np.maximum(place - 1, 0)
    into = np.clip(times - lane.start[at], 0.0, (lane.end - lane.start)[at]) * (place > 0)
    return lane.spent[at] + lane.share[at] * into[:, None]
