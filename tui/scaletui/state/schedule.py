"""The plan's pipeline, simulated with every stage equal: what each rank does when, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.schedule.result import Result

MOST_ACTIONS: Final = 100_000
"""A schedule with more is not drawn: a cell of the screen would stand for many actions."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a rank, in units of a forward pass through one stage."""

    start: float
    end: float
    kind: str
    """"forward", "input_grad", "weight_grad" or "backward"."""
    microbatch: int
    chunk: int
    """0 for the rank's first stage."""


@dataclass(frozen=True, slots=True)
class SchedulePicture:
    """A simulated step."""

    scenario: Scenario
    name: str
    microbatches: int
    chunks: int
    layers: tuple[tuple[range, ...], ...]
    """The layers of every stage that each rank holds."""
    lanes: tuple[tuple[Step, ...], ...] = ()
    """What each rank does, in order of time; empty where there is too much to draw."""
    makespan: float = 0.0
    over_ideal: float = 0.0
    """Bubble by definition A: idle time over ideal time."""
    over_makespan: float = 0.0
    """Bubble by definition B: idle time over makespan."""
    zero_bubble: float = 0.0
    """Bubble by definition C, the zero-bubble paper's: staggered starts and ends do not count."""
    peaks: tuple[float, ...] = ()
    """Microbatches whose activations each rank holds at its peak."""

    @property
    def worst_rank(self) -> int:
        """The rank that holds most; the first of equals."""
        return max(range(len(self.peaks)), key=lambda rank: (self.peaks[rank], -rank), default=0)


def picture(scenario: Scenario) -> SchedulePicture:
    """Simulate a valid scenario. Raises ScenarioError where the schedule cannot have this shape."""
    from scaletui_engine.schedule.orders.request import Request  # deferred: these import numpy
    from scaletui_engine.schedule.registry import build
    from scaletui_engine.schedule.result import evaluate
    from scaletui_engine.schedule.shape import Shape
    from scaletui_engine.stages import rank_stages

    plan = scenario.plan
    ranks = rank_stages(scenario.model.arch.layers, plan)
    layers = tuple(tuple(stage.layers for stage in stages) for stages in ranks)
    shape = Shape(plan.axes.pp, plan.accumulation, plan.chunks)
    if shape.stages * shape.microbatches * 2 > MOST_ACTIONS:
        return SchedulePicture(scenario, plan.schedule, shape.microbatches, plan.chunks, layers)
    result = evaluate(build(Request(plan.schedule, shape)))
    return SchedulePicture(
        scenario=scenario,
        name=plan.schedule,
        microbatches=shape.microbatches,
        chunks=plan.chunks,
        layers=layers,
        lanes=_lanes(result),
        makespan=result.timeline.makespan,
        over_ideal=result.bubble.over_ideal,
        over_makespan=result.bubble.over_makespan,
        zero_bubble=result.bubble.zero_bubble,
        peaks=tuple(float(peak) / plan.chunks for peak in result.activations.peak),
    )


def _lanes(result: Result) -> tuple[tuple[Step, ...], ...]:
    timeline = result.timeline
    table, kinds = timeline.table, ("forward", "input_grad", "weight_grad", "backward")
    starts, ends = timeline.start.tolist(), timeline.end.tolist()
    seen: list[dict[int, int]] = [{} for _ in range(timeline.schedule.ranks)]
    lanes: list[list[Step]] = [[] for _ in seen]
    for index, rank in enumerate(table.rank.tolist()):
        start, end = starts[index], ends[index]
        if table.joined[index]:
            # An overlapped pair runs at the same time; it is drawn as one half after the other.
            start = (start + end) / 2
            lanes[rank][-1] = replace(lanes[rank][-1], end=start)
        stage = int(table.stage[index])
        chunk = seen[rank].setdefault(stage, len(seen[rank]))
        kind = kinds[int(table.kind[index])]
        lanes[rank].append(Step(start, end, kind, int(table.microbatch[index]), chunk))
    return tuple(tuple(lane) for lane in lanes)
