"""What is frozen and what carries adapters exists in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.model import Role
from scaletui_engine.tensors import tensors
from scaletui_engine.validate.numbers import check_number

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


def check_trained(scenario: Scenario) -> None:
    """Raises UnknownNameError for a name that no tensor has, ValueRangeError for an adapter without rank."""
    plan = scenario.plan
    if not plan.frozen and plan.lora is None:
        return
    names = tuple(tensor.name for tensor in tensors(scenario.model.arch))
    roles = tuple(role.value for role in Role)
    for word in plan.frozen:
        if word not in roles and not any(name.startswith(word) for name in names):
            raise UnknownNameError("frozen role or tensor", word, (*roles, *names))
    if plan.lora is not None:
        check_number("lora.rank", plan.lora.rank, scenario.model.arch.hidden)
        _check_targets(plan.lora.targets, names)


def _check_targets(targets: tuple[str, ...], names: tuple[str, ...]) -> None:
    last = tuple(dict.fromkeys(name.rpartition(".")[2] for name in names))
    for target in targets:
        if target not in last:
            raise UnknownNameError("lora target", target, last)
