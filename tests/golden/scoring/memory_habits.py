"""What torchtitan did at the time of a row, where the row does not say: read in its source, by date.

A row that says another thing than the source it names is read as its source says.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring.memory_fields import text

if TYPE_CHECKING:
    from scoring.memory_fields import Record

DATE = re.compile(r"(?<!\d)(20[2-3]\d)-?(0[1-9]|1[0-2])(?:-?([0-2]\d|3[01]))?(?!\d)")
PULL = re.compile(r"(?:#|\bpull/)(\d{1,5})\b")
LAST_DAY = "31"
"""Of a month whose day is not said: compared as text, no month has a later one."""


def corrected(record: Record) -> Record:
    """The row with the fields in which it differs from its own source."""
    found = (entry for commit, entry in _habits()["corrections"].items() if commit in record.source)
    entry = next(found, None)
    return record if entry is None else replace(record, config={**record.config, **entry["fields"]})


def habit(record: Record, field: str) -> str:
    """The value that the field had by default when the row was measured; empty where nothing is known."""
    day = published(record)
    if day is None:
        return ""
    return next(
        (
            str(change["value"])
            for change in _habits()["changes"]
            if change["field"] == field and _holds(change, day, record)
        ),
        "",
    )


def published(record: Record) -> str | None:
    """The day on which a row of torchtitan's was measured, as text; None for another framework's.

    From a date in the source or the notes, a commit that is known, or a pull request's number: at least the
    date of the last one that is known before it.
    """
    if "torchtitan" not in f"{record.source} {text(record.config, 'framework')}".lower():
        return None
    said = DATE.search(f"{record.source} {record.notes}")
    if said:
        return f"{said[1]}-{said[2]}-{said[3] or LAST_DAY}"
    known = (day for commit, day in _habits()["commits"].items() if commit in record.source)
    return next(known, None) or _merged(record.source)


def _merged(source: str) -> str | None:
    number = PULL.search(source)
    if number is None:
        return None
    before = [day for pull, day in _habits()["pulls"] if pull <= int(number[1])]
    return before[-1] if before else None


def _holds(change: dict[str, Any], day: str, record: Record) -> bool:
    """Whether a habit was one on that day, for a job of the row's kind."""
    inside = change.get("from", "") <= day < change.get("until", "9")
    return inside and _compiles(record, change.get("compile", ""))


def _compiles(record: Record, what: str) -> bool:
    """Whether a row compiles its loss ("on": the default is model and loss), or in a mode of that name."""
    said = text(record.config, "compile")
    if what == "on":
        return said in ("on", "true", "yes", "inductor") or "loss" in said
    return what in said


@cache
def _habits() -> dict[str, Any]:
    data = json.loads((Path(__file__).parents[1] / "memory_models.json").read_text("utf-8"))
    habits: dict[str, Any] = data["habits"]
    return habits
