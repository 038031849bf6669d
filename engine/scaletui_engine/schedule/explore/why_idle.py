"""Why a rank idles at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.idle import IdleIntervals, IdleReason

if TYPE_CHECKING:
    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Why:
    """One idle interval."""

    rank: int
    start: float
    end: float
    reason: IdleReason
    next_action: int
    """Index of the action that ends it, `NOTHING` when the pipeline drains."""
    waits_for: int
    """Index of the action of another rank that it waits for, `NOTHING` when the pipeline drains."""
    computed: float
    """When that action ended and its message left; the interval's end when nothing is awaited."""


def why_idle(timeline: Timeline, idle: IdleIntervals, rank: int, time: float) -> Why | None:
    """The idle interval of a rank that holds a time, start included; None where the rank computes."""
    first, stop = np.searchsorted(idle.rank, (rank, rank + 1)).tolist()
    place = first + int(np.searchsorted(idle.start[first:stop], time, side="right")) - 1
    if place < first or time >= idle.end[place]:
        return None
    awaited = int(idle.waits_for[place])
    return Why(
        rank=rank,
        start=float(idle.start[place]),
        end=float(idle.end[place]),
        reason=IdleReason(int(idle.reason[place])),
        next_action=int(idle.before[place]),
        waits_for=awaited,
        computed=float(timeline.end[awaited]) if awaited >= 0 else float(idle.end[place]),
    )
