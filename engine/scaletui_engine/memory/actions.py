"""What a pipeline rank does in a step, in order: which microbatch through which of its layers."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ScenarioError
from scaletui_engine.memory.inflight import STEADY

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.plan import Plan

SHOWN: Final = 3
"""Microbatches of a step without a pipeline that are walked through: more repeat the second."""


@dataclass(frozen=True, slots=True)
class RankAction:
    """One forward or backward pass of one microbatch through one of the rank's stages."""

    forward: bool
    microbatch: int
    layers: range
    """Of the rank's layers, counted from its first."""
    start: float
    end: float
    others: int
    """Stage passes of other microbatches, or of other stages, whose activations are held meanwhile."""
    heads: int
    """Other microbatches whose loss is known and whose backward pass has not begun."""
    fresh: bool
    """No backward pass has ended on the rank yet."""
    last_stage: bool
    """The model's last stage: the loss follows forward and precedes backward."""
    slices: int
    """Parts that a sequence is cut into; a pass is of one of them."""


def rank_actions(contents: Contents) -> tuple[RankAction, ...]:
    """The actions of a rank in the plan's own schedule; weight gradients of a split backward are left out."""
    plan = contents.load.plan
    rows, slices = (_alone(plan), 1) if plan.axes.pp == 1 else _simulated(plan, contents.rank)
    found: list[RankAction] = []
    live, fresh = 0, True
    waiting = _waiting(rows) if slices == 1 else {}
    for row in rows:
        forward, layers = row.kind == "F", _layers(contents, row.chunk)
        if row.kind != "W":
            place = (forward, row.microbatch, layers, row.start, row.end)
            others, heads = live if forward else live - 1, waiting.get(row.start, 0)
            found.append(RankAction(*place, others, heads, fresh, row.last, slices))
        live += row.change
        fresh = fresh and forward
    return tuple(found)


def _waiting(rows: list[_Row]) -> dict[float, int]:
    """By time: losses that are known and whose backward pass has not begun. A sliced loss counts as whole."""
    known = sorted(row.end for row in rows if row.last and row.kind == "F")
    begun = sorted(row.start for row in rows if row.last and row.kind in ("I", "B"))
    return {row.start: bisect_right(known, row.start) - bisect_right(begun, row.start) for row in rows}


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    chunk: int
    microbatch: int
    start: float
    end: float
    change: int
    """Stage passes that are held from then on."""
    last: bool


def _alone(plan: Plan) -> list[_Row]:
    """Forward and backward of the microbatches in turn; a pass back takes two passes forward."""
    rows: list[_Row] = []
    for microbatch in range(min(max(plan.accumulation, 1), SHOWN)):
        start = 3.0 * microbatch
        rows.append(_Row("F", 0, microbatch, start, start + 1, 1, last=True))
        rows.append(_Row("B", 0, microbatch, start + 1, start + 3, -1, last=True))
    return rows


def _simulated(plan: Plan, rank: int) -> tuple[list[_Row], int]:
    """The rank's rows in the simulated schedule, and the slices of a sequence."""
    # The schedule engine brings numpy, which a plan without a pipeline does not need.
    from scaletui_engine.schedule.orders.request import Request
    from scaletui_engine.schedule.registry import build
    from scaletui_engine.schedule.shape import Shape
    from scaletui_engine.schedule.simulate import simulate

    ranks, batches = plan.axes.pp, max(plan.accumulation, 1)
    shape = Shape(ranks, min(batches, STEADY * ranks + batches % ranks), plan.chunks)
    try:
        line = simulate(build(Request(plan.schedule, shape)))
    except ScenarioError:
        line = simulate(build(Request("gpipe", Shape(ranks, shape.microbatches))))
    stages = line.schedule.placement.stages_of(rank)
    table, rows = line.table, list[_Row]()
    for index in range(int(table.row[rank]), int(table.row[rank + 1])):
        action = table.action(index)
        change = {"F": 1, "B": -1, "W": -1}.get(action.kind.letter, 0)
        last = action.stage == line.schedule.stages - 1
        times = (float(line.start[index]), float(line.end[index]))
        rows.append(
            _Row(action.kind.letter, stages.index(action.stage), action.microbatch, *times, change, last)
        )
    return rows, line.schedule.slices


def _layers(contents: Contents, chunk: int) -> range:
    """The rank's layers dealt evenly to its stages."""
    count, stages = contents.layer_count, contents.stages
    return range(count * chunk // stages, count * (chunk + 1) // stages)
