"""A scenario with the engine's answer to it: what the budget screen shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui.state.origin import Origin
    from scaletui_engine.memory.budget import MemoryBudget
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Answer:
    """The result carries the scenario it answers, so that a stale one can be told and dropped."""

    scenario: Scenario
    budget: MemoryBudget
    origins: tuple[Origin, ...]
    """One for each stage of the budget."""
    worst: int
    """The stage that needs most."""


def answer(scenario: Scenario) -> Answer:
    """Ask the engine. The scenario must be valid; the first call imports what the engine needs."""
    from scaletui.state.origin import origins  # deferred: the engine's formulas are not needed to paint
    from scaletui_engine.memory import evaluate

    budget = evaluate(scenario)
    return Answer(scenario, budget, origins(scenario), budget.peak.stage)
