"""A table whose last column is a sentence: what does not fit goes on below itself."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from scaletui.view.cells import width_of
from scaletui.view.row import Row, Span
from scaletui.view.table import GAP, Column, Line, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEAST: Final = 8
"""Cells of the narrowest sentence."""


def sentence_table(columns: Sequence[Column], lines: Sequence[Line], width: int) -> tuple[Row, ...]:
    """The lines, each as many rows as its sentence takes."""
    taken = sum(
        max(width_of(text) for text in (column.head, *(line[index].text for line in lines))) + GAP
        for index, column in enumerate(columns[:-1])
    )
    room = max(width - taken, LEAST)
    return table_rows(columns, [row for line in lines for row in _wrapped(line, room)], width)


def _wrapped(line: Line, room: int) -> Iterator[Line]:
    *cells, sentence = line
    first, *more = wrap(sentence.text, room) or [""]
    yield (*cells, Span(first, sentence.role))
    for rest in more:
        yield (*(Span("") for _ in cells), Span(rest, sentence.role))
