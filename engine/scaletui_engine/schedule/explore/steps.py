"""Stepping through a timeline: the moments at which something starts or ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.timeline import Timeline


def moments(timeline: Timeline) -> NDArray[np.float64]:
    """Every different start and end of a compute action, ascending: where "step" and "step back" stop."""
    return np.unique(np.concatenate((timeline.start, timeline.end)))


def next_moment(every: NDArray[np.float64], time: float) -> float:
    """The first moment after a time; the last one when there is none."""
    place = int(np.searchsorted(every, time, side="right"))
    return float(every[min(place, len(every) - 1)])


def previous_moment(every: NDArray[np.float64], time: float) -> float:
    """The last moment before a time; the first one when there is none."""
    place = int(np.searchsorted(every, time, side="left")) - 1
    return float(every[max(place, 0)])


def running(timeline: Timeline, time: float) -> NDArray[np.bool_]:
    """Which actions run at a time, one entry an action, start included and end not."""
    return (timeline.start <= time) & (time < timeline.end)


def done(timeline: Timeline, time: float) -> NDArray[np.bool_]:
    """Which actions have ended by a time."""
    return timeline.end <= time
