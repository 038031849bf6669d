"""From one valid value of a field to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.edit.candidates import candidates
from scaletui_engine.edit.fields import value_of
from scaletui_engine.edit.set import with_value
from scaletui_engine.validate import problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.edit.fields import Value
    from scaletui_engine.scenario import Scenario


def valid_values(scenario: Scenario, field: str) -> tuple[Value, ...]:
    """The values that `field` may be stepped to, what it holds among them if it is valid, in order."""
    listed = _listed(scenario, field)
    return tuple(value for value in listed if problem(with_value(scenario, field, value)) is None)


def step(scenario: Scenario, field: str, direction: int) -> Scenario:
    """The scenario with `field` at its next valid value, up for a positive direction and down for a negative.

    At the last one the scenario comes back unchanged. Raises UnknownNameError for an unknown field.
    """
    listed = _listed(scenario, field)
    here = listed.index(value_of(scenario, field))
    ahead: Iterable[Value] = listed[here + 1 :] if direction > 0 else reversed(listed[:here])
    for value in ahead:
        changed = with_value(scenario, field, value)
        if problem(changed) is None:
            return changed
    return scenario


def _listed(scenario: Scenario, field: str) -> list[Value]:
    """The candidates with the present value among them: numbers in order, other values first when foreign."""
    here, listed = value_of(scenario, field), list(candidates(scenario, field))
    if here in listed:
        return listed
    if isinstance(here, int) and not isinstance(here, bool):
        return sorted([*(value for value in listed if isinstance(value, int)), here])
    return [here, *listed]
