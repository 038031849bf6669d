"""Thin rules between parts of a screen, with a title and column heads on the line."""

from __future__ import annotations

import textwrap
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui.view.cells import crop, width_of
from scaletui.view.row import Row, Span, fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.view.pen import Pen


def rule_row(title: str | Span, width: int, pen: Pen, heads: Sequence[tuple[int, str]] = ()) -> Row:
    """A line with its title at the left; each head ends before the column that goes with it."""
    line = pen.glyphs.horizontal
    name = title if isinstance(title, Span) else Span(title, "title")
    spans = [Span(line, "border"), Span(f" {name.text} ", name.role)]
    used = 3 + width_of(name.text)
    for end, head in heads:
        start = end - width_of(head) - 2
        if start >= used and end <= width:
            spans += [Span(line * (start - used), "border"), Span(f" {head} ", "dim")]
            used = end
    spans.append(Span(line * max(width - used, 0), "border"))
    return fit(tuple(spans), width)


def heading(text: str, *, focus: bool) -> Span:
    """The title of a list; the one that the arrow keys walk stands out."""
    return Span(text, "accent" if focus else "title")


NO_BREAK: Final = "\u00a0"


def wrapped(text: str, width: int, role: str = "text", indent: str = " ") -> Iterator[Row]:
    """A sentence as rows of whole words; `NO_BREAK` is a blank at which no row ends."""
    for line in _lines(text, max(width - width_of(indent), 8)):
        yield fit((Span(indent + line.replace(NO_BREAK, " "), role),), width)


@lru_cache(256)
def _lines(text: str, width: int) -> tuple[str, ...]:
    """The same sentences are wrapped at every look."""
    return tuple(textwrap.wrap(text, width))


def pair_row(label: str | Span, value: str | Span, width: int, pen: Pen) -> Row:
    """A label at the left, dim unless it is a span, and its figure at the right; the label gives way."""
    name = label if isinstance(label, Span) else Span(label, "dim")
    figure = value if isinstance(value, Span) else Span(value)
    room = max(width - width_of(figure.text) - 3, 0)
    shown = crop(name.text, room, pen.glyphs.ellipsis)
    gap = " " * (room - width_of(shown) + 1)
    return fit((Span(f" {shown}{gap}", name.role), figure), width)
