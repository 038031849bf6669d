"""TOML as it is written: values, commented lines and tables, so that reading gives the same values back."""

from __future__ import annotations

import json
import math
import re
from enum import Enum
from typing import TYPE_CHECKING, cast

from scaletui_engine.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def value_text(value: object) -> str:
    """A text, number, boolean, or list of them in TOML 1.0. Raises ParseError for what TOML cannot hold."""
    if isinstance(value, Enum):
        return value_text(value.value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not math.isfinite(value):
            raise ParseError(f"{value} is not a finite number")
        return repr(value)
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return f"[{', '.join(value_text(item) for item in items)}]"
    return _string(str(value))


def table_text(header: str, values: Mapping[str, object], comments: Mapping[str, str]) -> str:
    """A [header] with a line for each value that is not None, its comment behind it."""
    lines = [f"[{header}]"] if header else []
    for key, value in values.items():
        if value is None:
            continue
        comment = comments.get(key)
        line = f"{_key(key)} = {value_text(value)}"
        lines.append(line if comment is None else f"{line}  # {comment}")
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for DEL, which TOML wants escaped too."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ParseError(f"{text[:40]!r} holds half a character, which no file can keep")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)
