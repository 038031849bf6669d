"""One action and what hangs on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.explore.window import actions_at
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scaletui_engine.schedule.action import Action
    from scaletui_engine.schedule.explore.chart import Chart

    _Ask: TypeAlias = Callable[[Chart, int], list[int]]


@dataclass(frozen=True, slots=True)
class Around:
    """An action under the cursor; indices are those of the timeline's table."""

    index: int
    actions: tuple[Action, ...]
    """One, or the two of a pair."""
    rank: int
    start: float
    end: float
    previous: int
    """The cell before on the same rank, `NOTHING` for the first."""
    following: int
    """The cell after on the same rank, `NOTHING` for the last."""
    dependencies: tuple[int, ...]
    """What must have ended: of other stages, and of its own stage."""
    successors: tuple[int, ...]
    """What waits for it, on this rank and on others."""
    waited_for: int
    """The dependency whose arrival set the start, `NOTHING` when the rank itself was busy until then."""


def cell_at(chart: Chart, rank: int, time: float) -> int:
    """Index of the action that runs on a rank at a time, `NOTHING` where it idles."""
    return int(actions_at(chart.lanes[rank], np.array([time]))[0])


def around(chart: Chart, index: int) -> Around:
    """Everything about one action; a pair answers for both, whichever index is given."""
    timeline = chart.timeline
    table, binding = timeline.table, timeline.binding
    first = index - int(table.joined[index])
    cell = range(first, int(table.last[first]) + 1)
    rank = int(table.rank[first])
    after = cell.stop if cell.stop < table.row[rank + 1] else NOTHING
    before = int(binding.previous[first])
    waited = binding.arrival[first] > binding.free[first]
    return Around(
        index=first,
        actions=tuple(table.action(i) for i in cell),
        rank=rank,
        start=float(timeline.start[first]),
        end=float(timeline.end[first]),
        previous=before - int(table.joined[before]) if before != NOTHING else NOTHING,
        following=after,
        dependencies=_unique(chart, cell, _needs),
        successors=_unique(chart, cell, _serves),
        waited_for=int(binding.input[first]) if waited else NOTHING,
    )


def _unique(chart: Chart, cell: range, ask: _Ask) -> tuple[int, ...]:
    found = (other for index in cell for other in ask(chart, index))
    return tuple(dict.fromkeys(other for other in found if other != NOTHING and other not in cell))


def _needs(chart: Chart, index: int) -> list[int]:
    table, finder = chart.timeline.table, chart.finder
    kind, place = table.kind[index], (table.stage[index], table.microbatch[index])
    own = {
        Kind.INPUT_GRAD: finder.forward,
        Kind.BACKWARD: finder.forward,
        Kind.WEIGHT_GRAD: finder.gradient,
    }.get(Kind(kind))
    return [int(chart.timeline.needs.action[index]), NOTHING if own is None else int(own[place])]


def _serves(chart: Chart, index: int) -> list[int]:
    table, finder, stages = chart.timeline.table, chart.finder, chart.timeline.schedule.stages
    kind, stage, microbatch = table.kind[index], int(table.stage[index]), int(table.microbatch[index])
    found: list[int] = []
    if kind == Kind.FORWARD:
        found.append(int(finder.gradient[stage, microbatch]))
        if stage + 1 < stages:
            found.append(int(finder.forward[stage + 1, microbatch]))
    if kind == Kind.INPUT_GRAD:
        found.append(int(finder.weight[stage, microbatch]))
    if kind in (Kind.INPUT_GRAD, Kind.BACKWARD) and stage > 0:
        found.append(int(finder.gradient[stage - 1, microbatch]))
    return found
