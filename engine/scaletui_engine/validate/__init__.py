"""Whether a scenario can run, and if not, which equation fails and what would be the nearest that holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ScenarioError
from scaletui_engine.validate.batch import check_batch
from scaletui_engine.validate.experts import check_experts
from scaletui_engine.validate.names import check_names
from scaletui_engine.validate.numbers import check_numbers
from scaletui_engine.validate.pipeline import check_pipeline
from scaletui_engine.validate.runtime import check_runtime
from scaletui_engine.validate.sequence import check_sequence
from scaletui_engine.validate.strategy import check_strategy
from scaletui_engine.validate.switches import check_switches
from scaletui_engine.validate.tensor_parallel import check_tensor_parallel
from scaletui_engine.validate.trained import check_trained
from scaletui_engine.validate.world import check_world

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

CHECKS: Final = (
    check_numbers, check_switches, check_names, check_runtime, check_trained, check_world, check_strategy,
    check_tensor_parallel, check_experts, check_pipeline, check_sequence, check_batch,
)  # fmt: skip
"""In the order of their urgency; each may rely on those before it."""


def validate(scenario: Scenario) -> None:
    """Raises the ScenarioError of the first rule that the scenario breaks."""
    for check in CHECKS:
        check(scenario)


def problem(scenario: Scenario) -> ScenarioError | None:
    """What `validate` would raise, or None for a scenario that can run."""
    try:
        validate(scenario)
    except ScenarioError as error:
        return error
    return None
