"""Answers of the engine for the tables of the budget screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.answer import answer
from scaletui.state.budget import BudgetState
from scaletui_engine.edit import edit
from scaletui_engine.scenarios import load_scenario

if TYPE_CHECKING:
    from scaletui.state.answer import Answer
    from scaletui_engine.scenario import Scenario


@pytest.fixture(scope="session")
def small() -> Answer:
    """Llama 3 8B on 8 GPUs: one stage, and it fits."""
    return answer(load_scenario("llama3-8b-8"))


@pytest.fixture(scope="session")
def wide() -> Answer:
    """Sixteen stages."""
    return answer(load_scenario("llama3-405b-16384"))


@pytest.fixture(scope="session")
def over() -> Answer:
    """A plan that does not fit, on the last line of defence: everything replicated."""
    return answer(edited(load_scenario("llama3-8b-8"), strategy="ddp"))


@pytest.fixture
def state(small: Answer) -> BudgetState:
    return BudgetState(small)


def edited(scenario: Scenario, **values: str) -> Scenario:
    """The scenario with some fields set one after the other."""
    for field, text in values.items():
        scenario = edit(scenario, field, text)
    return scenario
