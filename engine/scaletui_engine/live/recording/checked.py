"""JSON values of the type they should have; each raises DamageError for any other."""

from __future__ import annotations

from typing import Final, cast

from scaletui_engine.live.recording.fault import DamageError
from scaletui_engine.live.text import safe

LONGEST_TEXT: Final = 1 << 16
MOST_ITEMS: Final = 1 << 16


def items_of(data: object, what: str = "a list") -> list[object]:
    """A list of at most MOST_ITEMS."""
    if type(data) is not list:
        raise DamageError(f"{shown(data)} is not {what}")
    items = cast("list[object]", data)
    if len(items) > MOST_ITEMS:
        raise DamageError(f"{len(items)} items, at most {MOST_ITEMS}")
    return items


def so_many(data: object, count: int, what: str = "a list") -> list[object]:
    """A list of that length."""
    items = items_of(data, what)
    if len(items) != count:
        raise DamageError(f"{what} has {count} items, not {len(items)}")
    return items


def table_of(data: object, what: str = "an object") -> dict[str, object]:
    """An object."""
    if type(data) is not dict:
        raise DamageError(f"{shown(data)} is not {what}")
    return cast("dict[str, object]", data)


def text_of(data: object, what: str = "a text") -> str:
    """A text as it is."""
    if not isinstance(data, str) or len(data) > LONGEST_TEXT:
        raise DamageError(f"{shown(data)} is not {what}")
    return data


def place_of(data: object, count: int) -> int:
    """A whole number from 0 to below `count`."""
    if type(data) is not int or not 0 <= data < count:
        raise DamageError(f"{shown(data)} is not in 0 to {count - 1}")
    return data


def is_replaced(edit: object) -> bool:
    """Whether an edit is a list, which holds the value in full."""
    return type(edit) is list


def only(data: object) -> object:
    """The one element of the list that stands for a value replaced."""
    return so_many(data, 1, "an edit")[0]


def shown(data: object) -> str:
    """As much of a wrong value as fits into a line."""
    is_short = isinstance(data, (float, bool, str, type(None))) or (
        isinstance(data, int) and data.bit_length() < 256
    )
    text = safe(repr(data)) if is_short else type(data).__name__
    return text if len(text) <= 40 else text[:37] + "..."
