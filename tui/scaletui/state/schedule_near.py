"""What stands under the cursor: an action with what hangs on it, or a wait with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.schedule.explore.around import around, cell_at
from scaletui_engine.schedule.explore.why_idle import why_idle
from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from scaletui_engine.schedule.explore.chart import Chart
    from scaletui_engine.schedule.result import Result
    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Named:
    """One action as a person reads it."""

    index: int
    rank: int
    letter: str
    microbatch: int
    slice: int
    stage: int


@dataclass(frozen=True, slots=True)
class Near:
    """Either `actions` has one (two of a pair), or the rank idles and `reason` says why."""

    rank: int
    start: float
    end: float
    actions: tuple[Named, ...] = ()
    needs: tuple[Named, ...] = ()
    """What had to end before."""
    feeds: tuple[Named, ...] = ()
    """What waits for it."""
    waited_for: Named | None = None
    """Whose result set the start of the action, or ends the wait."""
    ready: float = 0.0
    """When that result was computed; its message may take longer."""
    reason: str = ""
    """"fill", "wait" or "drain" where the rank idles, "update" in its optimizer step and after."""

    @property
    def lit(self) -> frozenset[int]:
        """Indices of what hangs together with it."""
        waited = () if self.waited_for is None or self.actions else (self.waited_for,)
        return frozenset(named.index for named in (*self.needs, *self.feeds, *waited))


def near(result: Result, chart: Chart, rank: int, time: float) -> Near:
    """What a rank does at a time."""
    timeline = result.timeline
    index = cell_at(chart, rank, time)
    if index == NOTHING:
        return _idle(result, rank, time)
    found = around(chart, index)
    return Near(
        rank=rank,
        start=found.start,
        end=found.end,
        actions=tuple(named(timeline, found.index + place) for place in range(len(found.actions))),
        needs=tuple(named(timeline, other) for other in found.dependencies),
        feeds=tuple(named(timeline, other) for other in found.successors),
        waited_for=None if found.waited_for == NOTHING else named(timeline, found.waited_for),
    )


def _idle(result: Result, rank: int, time: float) -> Near:
    why = why_idle(result.timeline, result.idle, rank, time)
    if why is None:
        return Near(rank, time, time, reason="drain")
    awaited = None if why.waits_for == NOTHING else named(result.timeline, why.waits_for)
    return Near(
        rank, why.start, why.end, waited_for=awaited, ready=why.computed, reason=why.reason.name.lower()
    )


def named(timeline: Timeline, index: int) -> Named:
    """The action of an index."""
    action = timeline.table.action(index)
    slices = timeline.schedule.slices
    return Named(
        index=index,
        rank=int(timeline.table.rank[index]),
        letter=action.kind.letter,
        microbatch=action.microbatch // slices,
        slice=action.microbatch % slices if slices > 1 else -1,
        stage=action.stage,
    )
