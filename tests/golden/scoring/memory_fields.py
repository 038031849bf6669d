"""Reading the free-form fields of a published record; what cannot be read is named."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

Config = dict[str, Any]


class MissingFieldError(Exception):
    """A record that the engine cannot express: the message names the field."""


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a memory file."""

    id: str
    source: str
    kind: str
    config: Config
    expected: float | None
    unit: str
    quantity: str
    quality: str
    notes: str

    @property
    def text(self) -> str:
        """Where a row came from and what it is called, in lower case."""
        return f"{self.id} {self.source}".lower()

    @property
    def resolution(self) -> float:
        """One unit of the last decimal that the value is printed with."""
        decimals = len(str(self.expected).partition(".")[2])
        return 10.0**-decimals

    @property
    def gib(self) -> bool:
        """Whether the value counts in powers of two."""
        return self.unit.lower() == "gib"


def record_of(row: dict[str, Any]) -> Record:
    """A record from a row of the file; absent texts are empty, and what is no number is no value."""
    config, value = row.get("config"), row.get("measured_gb")
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return Record(
        id=str(row.get("id", "?")),
        source=str(row.get("source", "")),
        kind=str(row.get("kind", "measured")),
        config=dict(config) if isinstance(config, dict) else {},
        expected=float(value) if number else None,
        unit=str(row.get("unit", "GiB")),
        quantity=str(row.get("quantity", "")),
        quality=str(row.get("quality", "C")),
        notes=str(row.get("notes") or ""),
    )


def whole(config: Config, *names: str) -> int | None:
    """The first of `names` that holds a whole number, or text that starts with one ("2048 (inferred)")."""
    for name in names:
        value = config.get(name)
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, (int, float)) and float(value).is_integer():
            return int(value)
        match = re.match(r"\s*(\d+)\b", str(value))
        if match:
            return int(match[1])
    return None


def need(config: Config, *names: str) -> int:
    """The same, or MissingFieldError."""
    found = whole(config, *names)
    if found is None:
        raise MissingFieldError(f"missing field {names[0]}")
    return found


def text(config: Config, *names: str) -> str:
    """The first of `names` that holds something, in lower case; empty when none does."""
    for name in names:
        value = config.get(name)
        if value is not None and value is not False:
            return "on" if value is True else str(value).lower()
    return ""


def flag(config: Config, name: str, *, default: bool = False) -> bool:
    """A switch; any text but "off", "no" or "none" counts as on."""
    value = config.get(name)
    if value is None:
        return default
    return value if isinstance(value, bool) else text(config, name) not in ("", "off", "no", "none", "false")
