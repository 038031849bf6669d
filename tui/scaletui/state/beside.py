"""Two scenarios side by side: which they are, and which stage of each is looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui.state.answer import Answer
    from scaletui_engine.memory.budget import StageBudget
    from scaletui_engine.memory.timeline import StepTimeline


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two."""

    answer: Answer
    stage: int | None = None
    """The stage that is looked at; None follows the one that needs most."""
    step: StepTimeline | None = None
    """A step of that stage, which comes later than the answer."""

    @property
    def shown(self) -> StageBudget:
        """The stage that is looked at."""
        return self.answer.budget.stages[self.place]

    @property
    def place(self) -> int:
        """The index of that stage."""
        last = len(self.answer.budget.stages) - 1
        return self.answer.worst if self.stage is None else min(self.stage, last)


@dataclass(frozen=True, slots=True)
class Beside:
    """The scenario of the screen at the left, what it is compared with at the right."""

    here: Side
    other: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both, from left to right."""
        return self.here, self.other

    @property
    def scale(self) -> int:
        """Bytes that the longest bar stands for: both are drawn to one scale."""
        return max(
            max(side.answer.budget.capacity_bytes, side.answer.budget.peak.needed_bytes)
            for side in self.sides
        )


def next_stage(beside: Beside, direction: int) -> Beside:
    """Both look at the next stage; one that has no more keeps its last."""
    last = max(len(side.answer.budget.stages) for side in beside.sides) - 1
    place = beside.here.place if beside.here.stage is None else beside.here.stage
    stage = min(max(place + direction, 0), last)
    return Beside(*(replace(side, stage=stage, step=None) for side in beside.sides))


def swapped(beside: Beside) -> Beside:
    """The other one at the left."""
    return Beside(beside.other, beside.here)


def with_steps(beside: Beside) -> Beside:
    """The same with a step of each stage, asked of the engine; takes tens of milliseconds."""
    from scaletui_engine.memory.timeline import timeline  # deferred: not needed to paint

    return Beside(
        *(
            side if side.step else replace(side, step=timeline(side.answer.scenario, side.place))
            for side in beside.sides
        )
    )
