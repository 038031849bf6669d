"""What the engine says beyond the budget itself: the step, what it is made of, what would change it.

It takes tens of milliseconds, so it is asked for when the reader has stopped editing for a moment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scaletui_engine.memory.budget import Parts
    from scaletui_engine.memory.explain import Explanation
    from scaletui_engine.memory.fixes import Fix
    from scaletui_engine.memory.solve import Solution
    from scaletui_engine.memory.timeline import StepTimeline
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Study:
    """One stage of a scenario, looked at closely."""

    scenario: Scenario
    stage: int
    step: StepTimeline
    explanation: Explanation
    fixes: tuple[Fix, ...]
    """Single changes that save something, the best first."""
    solutions: tuple[Solution, ...]
    """Largest micro-batch, longest sequence, fewest GPUs."""


def study(scenario: Scenario, stage: int) -> Study:
    """Ask the engine. The scenario must be valid, the stage one of its pipeline ranks."""
    from scaletui_engine.memory.explain import explain  # deferred: none of it is needed to paint
    from scaletui_engine.memory.fixes import fixes
    from scaletui_engine.memory.solve import fewest_gpus, largest_micro_batch, longest_seq
    from scaletui_engine.memory.timeline import timeline

    return Study(
        scenario=scenario,
        stage=stage,
        step=timeline(scenario, stage),
        explanation=explain(scenario, stage),
        fixes=fixes(scenario),
        solutions=(largest_micro_batch(scenario), longest_seq(scenario), fewest_gpus(scenario)),
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a step's time."""

    amount: int
    """The highest allocated bytes in it."""
    phase: str
    """The phase in which they are highest."""
    parts: Parts
    """What they are."""


def cells_of(step: StepTimeline, count: int) -> list[Cell]:
    """The step cut into so many stretches of equal time."""
    points = step.points
    end = points[-1].time + LAST
    cells = [_waiting(points[0].parts)] * count
    for index, point in enumerate(points):
        until = points[index + 1].time if index + 1 < len(points) else end
        first = min(int(point.time / end * count), count - 1)
        last = min(max(ceil(until / end * count), first + 1), count)
        found = Cell(point.parts.total, point.phase, point.parts)
        for place in range(first, last):
            if found.amount > cells[place].amount:
                cells[place] = found
    return cells


def _waiting(parts: Parts) -> Cell:
    """What a rank holds while it waits for its first microbatch."""
    states = replace(parts, gradients=0, activations=0, loss=0, unsharded=0, buffers=0)
    return Cell(states.total, "idle", states)


LAST: Final = 0.5
"""Time that the last point, the optimizer's step, is given."""
