"""Switches are of their kind: true or false, one of a few words, a number where a number is meant."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import TYPE_CHECKING, Final, get_type_hints

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.fields import shown, wanted
from scaletui_engine.plan import Plan, Split
from scaletui_engine.runtime import Lora, Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.scenario import Scenario


def _kinds(cls: type) -> dict[str, object]:
    """Hints of the fields that are no numbers: those have their own ranges in `numbers.py`."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls) if _is_switch(hints[field.name])}


def _is_switch(hint: object) -> bool:
    return hint in (bool, bool | None) or (isinstance(hint, type) and issubclass(hint, Enum))


_PLAN: Final = _kinds(Plan)
_RUNTIME: Final = _kinds(Runtime)
_LORA: Final = _kinds(Lora)


def check_switches(scenario: Scenario) -> None:
    """Raises ValueRangeError."""
    for name, value, kind in _switches(scenario.plan):
        if not _fits(value, kind):
            raise ValueRangeError(f"{name} = {shown(value)} is not {wanted(kind)}")
    split = scenario.plan.layer_split
    if not isinstance(split, Split) and not all(type(count) is int for count in split):
        raise ValueRangeError(f"layer_split = {shown(split)} is not {wanted(tuple[int, ...])}")


def _switches(plan: Plan) -> Iterator[tuple[str, object, object]]:
    yield from ((name, getattr(plan, name), kind) for name, kind in _PLAN.items())
    yield from ((f"runtime.{name}", getattr(plan.runtime, name), kind) for name, kind in _RUNTIME.items())
    if plan.lora is not None:
        yield from ((f"lora.{name}", getattr(plan.lora, name), kind) for name, kind in _LORA.items())


def _fits(value: object, kind: object) -> bool:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return isinstance(value, kind)
    return type(value) is bool or (value is None and kind is not bool)
