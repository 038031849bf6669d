"""Small scenarios, and sights of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.state.sharding_look import Look, settled
from scaletui.state.sharding_sight import Sight, sight_of
from scaletui_engine.defaults import Choices, scenario_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario


@pytest.fixture(scope="session")
def scenario() -> Callable[..., Scenario]:
    """A model on H100s; 8 of them and Llama 3 8B unless told otherwise."""

    def make(model: str = "llama3-8b", gpus: int = 8, **options: object) -> Scenario:
        given = {"gpu": "h100-sxm", **options}
        return scenario_from(Choices(model=model, gpus=gpus, **given))  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def sight() -> Callable[..., Sight]:
    """A sight of a scenario; keywords of the look."""

    def make(scenario: Scenario, **options: object) -> Sight:
        look = replace(Look(), **options)  # type: ignore[arg-type]
        return sight_of(scenario, settled(look, scenario))

    return make
