"""Names of recipes, optimizers and schedules exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.optimizers import optimizer
from scaletui_engine.precisions import precision
from scaletui_engine.schedule_rules import schedule_rule

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


def check_names(scenario: Scenario) -> None:
    """Raises UnknownNameError."""
    precision(scenario.plan.precision)
    optimizer(scenario.plan.optimizer)
    schedule_rule(scenario.plan.schedule)
