"""Running a schedule on simulated ranks.

Messages are asynchronous: a consumer starts no earlier than its producer's end plus the message's time,
and the producer goes on at once. Other ways to communicate are in `transport.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.binding import binding_of
from scaletui_engine.schedule.check import require_valid
from scaletui_engine.schedule.deadlock import DeadlockError, Head
from scaletui_engine.schedule.lowering import compute_only
from scaletui_engine.schedule.needs import NOTHING, Needs, needs_of
from scaletui_engine.schedule.table import Table, finder_of, table_of
from scaletui_engine.schedule.timeline import Timeline
from scaletui_engine.schedule.times import UNIT_TIMES, Times, TimeTable, time_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.schedule import Schedule

_UNKNOWN = -1.0


def simulate(schedule: Schedule, times: Times = UNIT_TIMES) -> Timeline:
    """Communication actions of a lowered schedule are set aside.

    Raises OrderError for an order that is wrong in itself, DeadlockError for ranks that wait for each
    other, ValueRangeError for impossible times.
    """
    schedule = compute_only(schedule)
    table = table_of(schedule)
    require_valid(schedule, table)
    spread = time_table(times, schedule.stages, schedule.units)
    needs = needs_of(table, finder_of(table, schedule.stages, schedule.units), spread.comm)
    end = _run(table, needs, costs(table, spread, times, schedule.slices))
    if (stuck := _stuck(table, end)).size:
        raise DeadlockError(tuple(head_of(table, needs, index) for index in stuck.tolist()))
    binding = binding_of(table, needs, end)
    return Timeline(schedule, times, table, needs, binding, binding.start, end[table.last])


def costs(table: Table, spread: TimeTable, times: Times, slices: int = 1) -> NDArray[np.float64]:
    """What each action takes: all of a pair's time is its second action's."""
    cost = spread.kinds[table.kind, table.stage] * spread.scale[table.microbatch] / slices
    second = np.flatnonzero(table.joined)
    if second.size:
        scale = spread.scale[table.microbatch[second]]
        whole = cost[second - 1] + cost[second]
        cost[second] = whole if times.overlapped is None else times.overlapped * scale
        cost[second - 1] = 0.0
    return cost


def _run(table: Table, needs: Needs, cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """The end of every action: each rank runs until it waits; who ends what it waits for wakes it."""
    awaited: list[int] = np.where(needs.action == NOTHING, NOTHING, table.last[needs.action]).tolist()
    lag: list[float] = needs.lag.tolist()
    took: list[float] = cost.tolist()
    stops: list[int] = table.row[1:].tolist()
    position: list[int] = table.row[:-1].tolist()
    clock = [0.0] * len(stops)
    end: list[float] = [_UNKNOWN] * len(took)
    # A rank waits for one action at a time: `waiter` has the last rank that waits for an action,
    # `chain` the one that waited before it.
    waiter, chain = [NOTHING] * len(took), [NOTHING] * len(stops)
    ready = list(range(len(stops)))
    while ready:
        rank = ready.pop()
        now = clock[rank]
        index = stop = stops[rank]
        for index in range(position[rank], stop):
            other = awaited[index]
            if other >= 0:
                arrival = end[other]
                if arrival < 0.0:
                    chain[rank], waiter[other] = waiter[other], rank
                    break
                arrival += lag[index]
                if arrival > now:
                    now = arrival
            now += took[index]
            end[index] = now
            woken = waiter[index]
            while woken >= 0:
                ready.append(woken)
                woken = chain[woken]
        else:
            index = stop
        position[rank], clock[rank] = index, now
    return np.array(end)


def _stuck(table: Table, end: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first action of every rank that never ran."""
    never = np.flatnonzero(end == _UNKNOWN)
    _, first = np.unique(table.rank[never], return_index=True)
    return never[first]


def head_of(table: Table, needs: Needs, index: int) -> Head:
    """Where a rank stands whose next action waits for one of another rank."""
    other = int(needs.action[index])
    return Head(
        int(table.rank[index]), str(table.action(index)), str(table.action(other)), int(table.rank[other])
    )
