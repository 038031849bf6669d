"""Fields are of their kind: true or false, one of a few words, a text, a list, a number, or nothing."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, cast, get_args, get_origin, get_type_hints

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.fields import shown, wanted
from scaletui_engine.model import Arch, Mla, Moe
from scaletui_engine.plan import Plan
from scaletui_engine.runtime import Lora, Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.scenario import Scenario


def _types(hint: Any) -> frozenset[type]:
    """The exact types that a field takes: a word must be the enumeration's own, a list a tuple."""
    if hint is float:
        return frozenset((float, int))
    if get_origin(hint) is tuple:
        return frozenset((tuple,))
    parts = get_args(hint)
    return frozenset(kind for part in parts for kind in _types(part)) if parts else frozenset((hint,))


def _kinds(cls: type) -> tuple[tuple[str, Any, frozenset[type]], ...]:
    """(field, hint, types) of all but the parts that have fields of their own."""
    hints = get_type_hints(cls)
    found = [(field.name, hints[field.name], _types(hints[field.name])) for field in fields(cls)]
    return tuple(row for row in found if not any(map(is_dataclass, row[2])))


_KINDS: Final = {cls: _kinds(cls) for cls in (Plan, Runtime, Lora, Arch, Moe, Mla)}


def check_switches(scenario: Scenario) -> None:
    """Raises ValueRangeError."""
    for prefix, part in _parts(scenario):
        for name, hint, types in _KINDS[type(part)]:
            value: object = getattr(part, name)
            if type(value) not in types or (tuple in types and not _fits(value, hint)):
                raise ValueRangeError(f"{prefix}{name} = {shown(value)} is not {wanted(hint)}")


def _parts(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    plan, arch = scenario.plan, scenario.model.arch
    rows = (
        ("", plan), ("runtime.", plan.runtime), ("lora.", plan.lora),
        ("model.", arch), ("model.moe.", arch.moe), ("model.mla.", arch.mla),
    )  # fmt: skip
    return ((prefix, part) for prefix, part in rows if part is not None)


def _fits(value: object, hint: Any) -> bool:
    """Whether every item of a list is of the one type that it holds; what is no list has none."""
    if not isinstance(value, tuple):
        return True
    items = cast("tuple[object, ...]", value)
    lists = (hint,) if get_origin(hint) is tuple else get_args(hint)
    (item,) = (get_args(part)[0] for part in lists if get_origin(part) is tuple)
    return all(type(each) is item for each in items)
