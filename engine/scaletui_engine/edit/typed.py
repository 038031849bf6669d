"""Setting a field to what a person typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.edit.fields import parse_value
from scaletui_engine.edit.set import with_value
from scaletui_engine.edit.step import valid_values
from scaletui_engine.errors import WorldSizeError
from scaletui_engine.validate import problem

if TYPE_CHECKING:
    from scaletui_engine.edit.fields import Value
    from scaletui_engine.scenario import Scenario


def edit(scenario: Scenario, field: str, text: str) -> Scenario:
    """The valid scenario with what a person typed into the field. Raises ScenarioError."""
    value = parse_value(field, text)
    changed = with_value(scenario, field, value)
    error = problem(changed)
    if error is None:
        return changed
    if isinstance(error, WorldSizeError):
        raise WorldSizeError(error.equation, _nearest(scenario, field, value)) from None
    raise error


def _nearest(scenario: Scenario, field: str, value: Value) -> str | None:
    """The valid value of the same field nearest to what was typed."""
    if not isinstance(value, int):
        return None
    valid = [found for found in valid_values(scenario, field) if isinstance(found, int)]
    return f"{field} {min(valid, key=lambda found: (abs(found - value), found))}" if valid else None
