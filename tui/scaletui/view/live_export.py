"""Looks as lines of CSV or JSON, for spreadsheets and scripts; and what their columns mean."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.recording.samples import COLUMNS, row, sights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.snapshot import Snapshot

KINDS: Final = (".csv", ".jsonl")
"""Endings of the files."""


def csv_lines(looks: Iterator[Snapshot]) -> Iterator[str]:
    """A line of names, then one for each rank of a look that has said something new; empty where None."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in COLUMNS])
    yield _emptied(buffer)
    for sight in sights(looks):
        writer.writerow([column.cell(sight) for column in COLUMNS])
        yield _emptied(buffer)


def json_lines(looks: Iterator[Snapshot]) -> Iterator[str]:
    """The same as an object a line, null where None."""
    for sight in sights(looks):
        yield json.dumps(row(sight), separators=(",", ":")) + "\n"


def lines(kind: str, looks: Iterator[Snapshot]) -> Iterator[str]:
    """By the ending: ".csv" or ".jsonl"."""
    return csv_lines(looks) if kind == KINDS[0] else json_lines(looks)


def column_lines() -> Iterator[str]:
    """Name, unit and meaning of every column."""
    name = max(len(column.name) for column in COLUMNS) + 2
    unit = max(len(column.unit) for column in COLUMNS) + 2
    for column in COLUMNS:
        yield f"{column.name:<{name}}{column.unit or '-':<{unit}}{column.meaning}\n"


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
