"""What a view hands to the canvas: rows of spans, each span a text and the role that colours it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from scaletui.view.cells import crop, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Span:
    """A run of cells in one style."""

    text: str
    role: str = "text"
    """A role of `scaletui_themes` ("weights", "forward", "over"); the theme decides what it looks like."""


Row: TypeAlias = tuple[Span, ...]
"""One line of the screen, at most 8 spans where it moves; no wider than the view was asked for."""


def row_width(row: Row) -> int:
    """Cells that a row takes."""
    return sum(width_of(span.text) for span in row)


def fit(row: Row, width: int) -> Row:
    """The row cropped, or filled with blanks, to exactly that many cells."""
    spans: list[Span] = []
    left = width
    for span in row:
        text = crop(span.text, left)
        left -= width_of(text)
        if text:
            spans.append(span if text == span.text else Span(text, span.role))
        if text != span.text:
            break
    return merge([*spans, Span(" " * left)])


def merge(spans: Iterable[Span]) -> Row:
    """A row in which neighbours of one role are one span, and empty spans are gone."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].role == span.role:
            merged[-1] = Span(merged[-1].text + span.text, span.role)
        elif span.text:
            merged.append(span)
    return tuple(merged)


def beside(left: Row, right: Row, width: int) -> Row:
    """One row at the left edge and one at the right edge; the left one is cropped where both do not fit."""
    room = max(width - row_width(right), 0)
    return fit((*fit(left, room), *right), width)
