"""One training step, cut as each strategy cuts it, and the same moment in all of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from scaletui.state.seat import Seat, members
from scaletui_engine.edit import with_value
from scaletui_engine.errors import ScenarioError
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.step_frames import Act
from scaletui_engine.sharding.step_player import played_step
from scaletui_engine.validate import validate

if TYPE_CHECKING:
    from scaletui.state.playback import Playback
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.step_frames import PlayedStep, StepFrame

_FIRST: Final = Seat()
COMPARED: Final = (Strategy.DDP, Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP)
Moment = tuple[int, int, int]
"""(microbatch, pass, place in the pass): what frames of two strategies are matched by."""
_LATE: Final = {Act.STEP: 0, Act.PUBLISH: 1, Act.START: 2}


@dataclass(frozen=True)
class Take:
    """One strategy's step, or why the plan cannot have it."""

    strategy: Strategy
    step: PlayedStep | None
    why: str = ""

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """The moment of every frame; they never go back."""
        if self.step is None:
            return ()
        return tuple(_moments(self.step))

    def at(self, moment: Moment) -> int:
        """The last frame that is not after a moment."""
        return max(bisect_right(self.moments, moment) - 1, 0)


@dataclass(frozen=True)
class Takes:
    """All strategies of one rank of a scenario, its own first if it is not among the compared ones."""

    scenario: Scenario
    takes: tuple[Take, ...]
    seat: Seat = _FIRST

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that share the data with the one that is played."""
        axes = self.scenario.plan.axes
        return members(self.scenario, "dp_cp", axes.dp * axes.cp, self.seat)

    def named(self, strategy: Strategy) -> Take:
        """One of them."""
        return next(take for take in self.takes if take.strategy is strategy)


@dataclass(frozen=True)
class Sight:
    """A frame of one strategy, and the same moment in the others."""

    takes: Takes
    take: Take
    step: PlayedStep
    index: int
    playback: Playback

    @property
    def frame(self) -> StepFrame:
        """What is looked at."""
        return self.step.frames[self.index]

    @property
    def moment(self) -> Moment:
        """When that is."""
        return self.take.moments[self.index]

    def beside(self, take: Take) -> StepFrame | None:
        """The frame of another strategy at this moment; the own one is exact."""
        if take is self.take:
            return self.frame
        return None if take.step is None else take.step.frames[take.at(self.moment)]


def strategies(scenario: Scenario) -> tuple[Strategy, ...]:
    """What is compared: the plan's own strategy is always there."""
    own = scenario.plan.strategy
    return COMPARED if own in COMPARED else (own, *COMPARED)


@lru_cache(maxsize=8)
def take_of(scenario: Scenario, strategy: Strategy, stage: int = 0) -> Take:
    """A pipeline stage's step under a strategy."""
    try:
        other = scenario
        if strategy is not scenario.plan.strategy:
            other = with_value(scenario, "strategy", strategy)
            validate(other)
        return Take(strategy, played_step(other, stage))
    except ScenarioError as error:
        return Take(strategy, None, str(error))


def takes_of(scenario: Scenario, seat: Seat = _FIRST) -> Takes:
    """Every strategy's step."""
    stage = seat.stage(scenario)
    return Takes(scenario, tuple(take_of(scenario, name, stage) for name in strategies(scenario)), seat)


def _moments(step: PlayedStep) -> list[Moment]:
    """Frames between two computations belong to the one before; the end of the step comes after all."""
    now: Moment = (-1, 0, 0)
    found: list[Moment] = []
    began = False
    for frame in step.frames:
        if frame.act in (Act.FORWARD, Act.BACKWARD) and frame.unit is not None:
            backward = frame.act is Act.BACKWARD
            now = (frame.microbatch, int(backward), -frame.unit if backward else frame.unit)
        elif frame.act in _LATE and began:
            now = (step.microbatches, 2, _LATE[frame.act])
        began = True
        found.append(now)
    return found
