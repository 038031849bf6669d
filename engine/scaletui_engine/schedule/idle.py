"""Idle time: where it lies, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.timeline import Timeline


class IdleReason(IntEnum):
    """Why a rank idles."""

    FILL = 0
    """Before its first action: the pipeline fills."""
    WAIT = 1
    """For the result of another rank."""
    DRAIN = 2
    """After its last action: the pipeline drains."""


@dataclass(frozen=True, slots=True, eq=False)
class IdleIntervals:
    """One entry an interval, rank after rank, in time order."""

    rank: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    reason: NDArray[np.int64]
    """`IdleReason`."""
    before: NDArray[np.int64]
    """Index of the action that ends it, `NOTHING` when the pipeline drains."""
    waits_for: NDArray[np.int64]
    """Index of the action of another rank whose result ends it, `NOTHING` when the pipeline drains."""

    def __len__(self) -> int:
        return len(self.rank)


def idle_intervals(timeline: Timeline) -> IdleIntervals:
    """Every gap of every rank between 0 and the makespan."""
    table, binding, makespan = timeline.table, timeline.binding, timeline.makespan
    waits = np.flatnonzero(~table.joined & (timeline.start > binding.free))
    first = binding.previous[waits] == NOTHING
    drains = np.flatnonzero(timeline.last_end < makespan)
    nothing = np.full(len(drains), NOTHING)
    rank = np.concatenate((table.rank[waits], drains))
    order = np.argsort(rank, kind="stable")
    return IdleIntervals(
        rank=rank[order],
        start=np.concatenate((binding.free[waits], timeline.last_end[drains]))[order],
        end=np.concatenate((timeline.start[waits], np.full(len(drains), makespan)))[order],
        reason=np.concatenate(
            (np.where(first, IdleReason.FILL, IdleReason.WAIT), np.full(len(drains), IdleReason.DRAIN))
        )[order],
        before=np.concatenate((waits, nothing))[order],
        waits_for=np.concatenate((binding.input[waits], nothing))[order],
    )
