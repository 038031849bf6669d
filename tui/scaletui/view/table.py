"""Columns of text that line up, and that give way in a known order where there is little room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.view.cells import left, right, width_of
from scaletui.view.row import Row, Span, fit, merge

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP: Final = 2
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    head: str
    numeric: bool = False
    """Numbers stand at the right of their column."""
    rank: int = 0
    """Columns of the highest rank go first where there is no room; those of rank 0 stay."""
    shrinks: bool = False
    """Whether its text may be cut to make room."""


Line = tuple[Span, ...]
"""One cell of text for each column."""


def table_rows(
    columns: Sequence[Column], lines: Sequence[Line], width: int, ellipsis: str = ""
) -> tuple[Row, ...]:
    """The head, unless every head is empty, and the lines, each exactly `width` cells wide."""
    natural = [
        max([width_of(column.head), *(width_of(line[index].text) for line in lines)])
        for index, column in enumerate(columns)
    ]
    kept = _kept(columns, natural, width)
    widths = _shrunk(columns, natural, kept, width)
    head = [Span(column.head, "dim") for column in columns]
    shown = [*([head] if any(column.head for column in columns) else []), *lines]
    return tuple(_line(columns, line, widths, ellipsis, width) for line in shown)


def _kept(columns: Sequence[Column], natural: list[int], width: int) -> list[int]:
    """Indices of the columns that stay."""
    kept = list(range(len(columns)))
    while _total([_least(columns[index], natural[index]) for index in kept]) > width:
        ranked = [index for index in kept if columns[index].rank > 0]
        if not ranked:
            break
        kept.remove(max(ranked, key=lambda index: (columns[index].rank, index)))
    return kept


def _shrunk(columns: Sequence[Column], natural: list[int], kept: list[int], width: int) -> dict[int, int]:
    """Index -> width, the shrinking columns cut from the widest down."""
    widths = {index: natural[index] for index in kept}
    while _total(list(widths.values())) > width:
        able = [i for i in kept if columns[i].shrinks and widths[i] > _least(columns[i], natural[i])]
        if not able:
            break
        widths[max(able, key=lambda index: widths[index])] -= 1
    return widths


def _least(column: Column, natural: int) -> int:
    return min(natural, _READABLE) if column.shrinks else natural


def _total(widths: list[int]) -> int:
    return sum(widths) + GAP * max(len(widths) - 1, 0)


def _line(
    columns: Sequence[Column], line: Sequence[Span], widths: dict[int, int], ellipsis: str, width: int
) -> Row:
    spans: list[Span] = []
    for index, room in widths.items():
        place = right if columns[index].numeric else left
        if spans:
            spans.append(Span(" " * GAP))
        spans.append(Span(place(line[index].text, room, ellipsis), line[index].role))
    return fit(merge(spans), width)


_READABLE: Final = 4
