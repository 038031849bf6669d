"""Small scenarios, choices and sights of the players."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.collective_choice import Choice
from scaletui.state.collective_sight import Sight, sight_of
from scaletui.state.playback import Playback
from scaletui.state.step_play import Sight as StepSight
from scaletui.state.step_play import takes_of
from scaletui_engine.collectives.family import Played
from scaletui_engine.defaults import Choices, scenario_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.plan import Strategy
    from scaletui_engine.scenario import Scenario


@pytest.fixture(scope="session")
def scenario() -> Callable[..., Scenario]:
    """A model on H100s; 8 of them and Llama 3 8B unless told otherwise."""

    def make(model: str = "llama3-8b", gpus: int = 8, **options: object) -> Scenario:
        return scenario_from(Choices(model=model, gpu="h100-sxm", gpus=gpus, **options))  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def collective() -> Callable[..., Sight]:
    """A sight of a collective at a frame; 1 GiB unless told otherwise."""

    def make(name: str, ranks: int, index: int, *, per_node: int = 0, rank: int = 0) -> Sight:
        played = Played(name, ranks, 1 << 30, per_node or ranks)
        return sight_of(Choice(played), Playback(float(index)), rank, index)

    return make


@pytest.fixture(scope="session")
def step(scenario: Callable[..., Scenario]) -> Callable[..., StepSight]:
    """A sight of a strategy's step at a frame, all strategies beside it; below 0 from the end."""

    def make(strategy: Strategy, index: int, **options: object) -> StepSight:
        takes = takes_of(scenario(**options))
        take = takes.named(strategy)
        assert take.step is not None
        place = index % len(take.step.frames)
        return StepSight(takes, take, take.step, place, Playback(float(place)))

    return make
