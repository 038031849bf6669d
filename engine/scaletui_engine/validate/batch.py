"""The global batch is a whole number of microbatches of every data-parallel rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.validate.nearest import nearest_multiple

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


def check_batch(scenario: Scenario) -> None:
    """Raises DivisibilityError unless global batch = micro-batch x dp x accumulation."""
    plan = scenario.plan
    each = plan.micro_batch * plan.axes.dp
    if plan.global_batch % each:
        raise DivisibilityError(
            f"global batch {plan.global_batch} / (micro-batch {plan.micro_batch} x dp {plan.axes.dp}) "
            f"= {plan.global_batch / each:.4g} accumulation steps, not a whole number",
            f"global batch {nearest_multiple(each, plan.global_batch)}",
        )
