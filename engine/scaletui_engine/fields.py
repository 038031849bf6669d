"""Frozen dataclasses from mappings that people wrote, checked key by key and type by type.

Used for model files, scenario files and the catalogue, so that all three refuse in the same words.
"""

from __future__ import annotations

import math
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, time
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from scaletui_engine.errors import ParseError, UnknownNameError, brief, nearest_name
from scaletui_engine.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

T = TypeVar("T")

_WANTED: Final[dict[object, str]] = {
    int: "a whole number", float: "a finite number", bool: "true or false", str: "a text",
}  # fmt: skip
_LISTS: Final[dict[object, str]] = {int: "a list of whole numbers", str: "a list of texts"}


def read(cls: type[T], values: Mapping[str, object], where: str) -> T:
    """`cls` from `values`; `where` names the section in every refusal.

    Raises UnknownNameError for a key that `cls` lacks, ParseError for a missing key or a wrong type.
    """
    known, hints = _fields(cls), _hints(cast("Hashable", cls))
    refuse_unknown(values, known, where)
    given = {key: value_of(hints[key], value, f"{where}.{key}") for key, value in values.items()}
    for name, field in known.items():
        if name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise ParseError(f"{where}.{name} is missing: wanted {wanted(hints[name])}")
    return cls(**given)


def refuse_unknown(values: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raises UnknownNameError for the first key of `values` that is not `known`."""
    names = tuple(known)
    prefix = f"{where}." if where else ""
    for key in values:
        if key not in names:
            # Behind a prefix that all share, every name looks like every other.
            alike = nearest_name(key, names) if prefix else None
            known = names if not prefix else () if alike is None else (alike,)
            raise UnknownNameError("key", f"{prefix}{key}", [f"{prefix}{name}" for name in known])


def value_of(hint: object, value: object, where: str) -> Any:
    """`value` as the type `hint`, or ParseError in one line that names the key and the value."""
    for kind in _alternatives(hint):
        found = _as_kind(kind, value, where)
        if found is not MISSING:
            return found
    raise ParseError(f"{where} = {shown(value)} is not {wanted(hint)}", _nearest(hint, value))


def size_of(text: str, where: str) -> int:
    """Bytes of a size like "80GiB", or ParseError in one line that names the key."""
    try:
        return parse_bytes(text)
    except ParseError as error:
        raise ParseError(f"{where} = {error.equation}") from None


def wanted(hint: object) -> str:
    """What a key takes, in words: "a whole number", "one of none, selective, full"."""
    kinds = [kind for kind in _alternatives(hint) if kind is not NoneType]
    return " or ".join(_wanted(kind) for kind in kinds)


def shown(value: object) -> str:
    """A value as a person wrote it, its start where it is long."""
    if isinstance(value, (date, time)):
        return value.isoformat()
    return repr(value).lower() if isinstance(value, bool) else brief(value)


@lru_cache(maxsize=64)
def _hints(cls: Hashable) -> dict[str, Any]:
    return get_type_hints(cls)


def _fields(cls: type) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(cls)}


def _as_kind(kind: Any, value: object, where: str) -> Any:
    if kind is NoneType:
        return None if value is None else MISSING
    if get_origin(kind) is tuple:
        return _as_tuple(get_args(kind)[0], value, where)
    if is_dataclass(kind):
        table = cast("dict[str, object]", value)
        return read(cast("type[object]", kind), table, where) if isinstance(value, dict) else MISSING
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((member for member in kind if member.value == value), MISSING)
    return _as_scalar(cast("type[object]", kind), value)


def _as_scalar(kind: type[object], value: object) -> Any:
    if not issubclass(kind, float):
        return value if type(value) is kind else MISSING
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return MISSING
    try:
        number = float(value)
    except OverflowError:
        return MISSING
    return number if math.isfinite(number) else MISSING


def _as_tuple(inner: object, value: object, where: str) -> Any:
    if not isinstance(value, (list, tuple)):
        return MISSING
    items = cast("Sequence[object]", value)
    return tuple(value_of(inner, item, f"{where}[{index}]") for index, item in enumerate(items))


def _alternatives(hint: object) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _wanted(kind: object) -> str:
    if get_origin(kind) is tuple:
        return _LISTS.get(get_args(kind)[0], "a list")
    choices = _choices(kind)
    return f"one of {', '.join(choices)}" if choices else _WANTED.get(kind, "a table")


def _choices(kind: object) -> tuple[str, ...]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return ()


def _nearest(hint: object, value: object) -> str | None:
    choices = [choice for kind in _alternatives(hint) for choice in _choices(kind)]
    close = nearest_name(value, choices) if isinstance(value, str) else None
    return None if close is None else repr(close)
