"""Messages that are launched after the next compute action, when that one can start at once.

A host that queues the next kernel before the send makes the send wait for it
(sail-sg/zero-bubble-pipeline-parallelism#73): the second rank then starts two forwards late, not one.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.check import require_valid
from scaletui_engine.schedule.deadlock import DeadlockError
from scaletui_engine.schedule.lowering import compute_only
from scaletui_engine.schedule.modes.lanes import timeline_from
from scaletui_engine.schedule.needs import NOTHING, Needs, needs_of
from scaletui_engine.schedule.simulate import costs, head_of
from scaletui_engine.schedule.table import Table, finder_of, table_of
from scaletui_engine.schedule.times import Times, time_table

if TYPE_CHECKING:
    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.timeline import Timeline

_ARRIVAL, _COMPLETION = 0, 1


class _Clock:
    """Events in the order of time; at one time arrivals come before completions."""

    def __init__(self, table: Table, needs: Needs, cost: list[float]) -> None:
        self.table = table
        self.cost = cost
        self.needs = needs
        awaited: list[int] = needs.action.tolist()
        self.users: list[list[int]] = [[] for _ in cost]
        for index, other in enumerate(awaited):
            if other != NOTHING:
                self.users[other].append(index)
        self.arrived = [other == NOTHING for other in awaited]
        self.next: list[int] = table.row[:-1].tolist()
        self.busy = [False] * len(self.next)
        self.held: list[tuple[int, ...]] = [() for _ in self.next]
        self.start, self.end = [-1.0] * len(cost), [-1.0] * len(cost)
        self.events: list[tuple[float, int, int]] = []

    def run(self) -> None:
        for rank in range(len(self.next)):
            self.begin(rank, 0.0)
        while self.events:
            time, what, index = heappop(self.events)
            rank = int(self.table.rank[index])
            if what == _ARRIVAL:
                self.arrived[index] = True
                if not self.busy[rank]:
                    self.begin(rank, time)
            else:
                self.complete(rank, index, time)

    def begin(self, rank: int, time: float) -> bool:
        """Start the rank's next cell if its inputs are there."""
        index = self.next[rank]
        if index == self.table.row[rank + 1]:
            return False
        last = int(self.table.last[index])
        if not all(self.arrived[index : last + 1]):
            return False
        self.busy[rank], self.next[rank] = True, last + 1
        took = sum(self.cost[index : last + 1])
        for part in range(index, last + 1):
            self.start[part], self.end[part] = time, time + took
        heappush(self.events, (time + took, _COMPLETION, index))
        return True

    def complete(self, rank: int, index: int, time: float) -> None:
        """The messages of the cell before leave; this one's wait for the next cell if that starts now."""
        self.busy[rank] = False
        leaves = self.held[rank]
        mine = tuple(range(index, int(self.table.last[index]) + 1))
        for part in mine:
            for user in self.users[part]:
                if self.table.rank[user] == rank:
                    self.arrived[user] = True
        self.held[rank] = mine if self.begin(rank, time) else ()
        for part in leaves if self.held[rank] else (*leaves, *mine):
            self.send(part, rank, time)

    def send(self, part: int, rank: int, time: float) -> None:
        for user in self.users[part]:
            if self.table.rank[user] != rank:
                heappush(self.events, (time + float(self.needs.lag[user]), _ARRIVAL, user))


def simulate_launched_late(schedule: Schedule, times: Times) -> Timeline:
    """Raises OrderError, DeadlockError, ValueRangeError."""
    schedule = compute_only(schedule)
    table = table_of(schedule)
    require_valid(schedule, table)
    spread = time_table(times, schedule.stages, schedule.units)
    needs = needs_of(table, finder_of(table, schedule.stages, schedule.units), spread.comm)
    clock = _Clock(table, needs, costs(table, spread, times, schedule.slices).tolist())
    clock.run()
    if stuck := [index for index, end in zip(clock.next, table.row[1:].tolist(), strict=True) if index < end]:
        raise DeadlockError(tuple(head_of(table, needs, index) for index in stuck))
    return timeline_from(schedule, times, (np.array(clock.start), np.array(clock.end)))
