"""Frozen dataclasses from mappings that people wrote, checked key by key and type by type.

Used for model files, scenario files and the catalogue, so that all three refuse in the same words.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from scaletui_engine.errors import ParseError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

T = TypeVar("T")

_WANTED = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


@lru_cache(maxsize=64)
def _hints(cls: Hashable) -> dict[str, Any]:
    return get_type_hints(cls)


def read(cls: type[T], values: Mapping[str, object], where: str) -> T:
    """`cls` from `values`; `where` names the section in every refusal.

    Raises UnknownNameError for a key that `cls` lacks, ParseError for a missing key or a wrong type.
    """
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise UnknownNameError("key", f"{where}.{key}", [f"{where}.{name}" for name in known])
    hints: dict[str, Any] = _hints(cls)
    given = {key: value_of(hints[key], value, f"{where}.{key}") for key, value in values.items()}
    for name, field in known.items():
        if name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise ParseError(f"{where}.{name} is missing: wanted {wanted(hints[name])}")
    return cls(**given)


def value_of(hint: Any, value: object, where: str) -> Any:
    """`value` as the type `hint`, or ParseError in one line that names the key and the value."""
    for kind in _alternatives(hint):
        found = _as_kind(kind, value, where)
        if found is not MISSING:
            return found
    raise ParseError(f"{where} = {_shown(value)} is not {wanted(hint)}", _nearest(hint, value))


def _as_kind(kind: Any, value: object, where: str) -> Any:
    if kind is NoneType:
        return None if value is None else MISSING
    if get_origin(kind) is tuple:
        return _as_tuple(kind, value, where)
    if is_dataclass(kind) and isinstance(kind, type):
        return read(kind, value, where) if isinstance(value, dict) else MISSING
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((member for member in kind if member.value == value), MISSING)
    return _as_scalar(kind, value)


def _as_scalar(kind: Any, value: object) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value if type(value) is kind else MISSING


def _as_tuple(kind: Any, value: object, where: str) -> Any:
    if not isinstance(value, (list, tuple)):
        return MISSING
    inner = get_args(kind)[0]
    return tuple(value_of(inner, item, f"{where}[{index}]") for index, item in enumerate(value))


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def wanted(hint: Any) -> str:
    """What a key takes, in words: "a whole number", "one of none, selective, full"."""
    kinds = [kind for kind in _alternatives(hint) if kind is not NoneType]
    return " or ".join(_wanted(kind) for kind in kinds)


def _wanted(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return "a list of whole numbers"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "one of " + ", ".join(str(member.value) for member in kind)
    return _WANTED.get(kind, "a table")


def _shown(value: object) -> str:
    text = repr(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _nearest(hint: Any, value: object) -> str | None:
    from difflib import get_close_matches

    choices = [
        str(member.value)
        for kind in _alternatives(hint)
        if isinstance(kind, type) and issubclass(kind, Enum)
        for member in kind
    ]
    close = get_close_matches(str(value).lower(), choices, n=1, cutoff=0.5)
    return repr(close[0]) if close else None
