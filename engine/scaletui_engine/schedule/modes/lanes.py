"""Lowered schedules on lanes: one a rank with a rendezvous, or a compute and a message lane a rank.

With a rendezvous both ranks arrive at a SEND and its RECV, then it takes its time and holds both.
Without, a SEND occupies its rank's message lane for its time, and a RECV occupies the other rank's lane
from its turn until the message is there; compute actions wait for their RECV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.binding import Binding
from scaletui_engine.schedule.check import require_valid
from scaletui_engine.schedule.deadlock import DeadlockError
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.lowering import compute_only
from scaletui_engine.schedule.modes.heads import heads_of
from scaletui_engine.schedule.modes.network import longest_paths
from scaletui_engine.schedule.modes.wiring import network_of, wire
from scaletui_engine.schedule.needs import NOTHING, needs_of
from scaletui_engine.schedule.table import Table, finder_of, table_of
from scaletui_engine.schedule.timeline import Timeline
from scaletui_engine.schedule.times import Times, time_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True, eq=False)
class LaneTimeline:
    """Compute actions and messages."""

    table: Table
    """Of the lowered schedule."""
    start: NDArray[np.float64]
    """One entry an action of the lowered table."""
    end: NDArray[np.float64]
    compute: Timeline
    """The compute actions alone."""


def simulate_lanes(schedule: Schedule, times: Times, *, rendezvous: bool) -> LaneTimeline:
    """Raises OrderError, DeadlockError with the heads of the rows, ValueRangeError."""
    plain = compute_only(schedule)
    require_valid(plain, table_of(plain))
    table = table_of(schedule)
    wiring = wire(schedule, table, rendezvous=rendezvous)
    paths = longest_paths(network_of(wiring, schedule, times))
    if min(paths.end, default=0.0) < 0:
        raise DeadlockError(heads_of(wiring, paths))
    node = np.array(wiring.node)
    start, end = np.array(paths.start)[node], np.array(paths.end)[node]
    kept = np.flatnonzero(table.kind <= Kind.BACKWARD)
    return LaneTimeline(table, start, end, timeline_from(plain, times, (start[kept], end[kept])))


def timeline_from(
    schedule: Schedule, times: Times, ran: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> Timeline:
    """A timeline from starts and ends that another model found.

    A late start is put down to the awaited action, whatever held up its message.
    """
    start, end = ran
    table = table_of(schedule)
    spread = time_table(times, schedule.stages, schedule.units)
    needs = needs_of(table, finder_of(table, schedule.stages, schedule.units), spread.comm)
    previous = np.arange(len(table.code)) - 1
    previous[table.row[:-1]] = NOTHING
    second = np.flatnonzero(table.joined)
    previous[second] = previous[second - 1]
    free = np.where(previous == NOTHING, 0.0, end[previous])
    awaited = needs.action.copy()
    awaited[second] = np.where(awaited[second] == NOTHING, awaited[second - 1], awaited[second])
    awaited[second - 1] = awaited[second]
    binding = Binding(previous, free, awaited, np.where(start > free, start, 0.0))
    return Timeline(schedule, times, table, needs, binding, start, end)
