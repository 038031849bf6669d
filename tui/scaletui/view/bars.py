"""Stacked bars against a capacity: one row for each bar, three where it has to be read from afar.

stage 0 W    G    O       A              L  U      ┃ 40.3
|label| |parts, each letter where its part starts, |  |note|
          and then the room that is left           capacity
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.big import big_text, big_width
from scaletui.view.cells import left, right, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.share import share
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.pen import Pen


@dataclass(frozen=True, slots=True)
class Bar:
    """One rank or stage."""

    label: str
    parts: tuple[tuple[str, int], ...]
    """(role, bytes) in drawing order; "reserved" is a part like any other."""
    note: str = ""
    """The figure at the right."""
    label_role: str = "text"
    note_role: str = "text"

    @property
    def total(self) -> int:
        """Bytes of all parts."""
        return sum(amount for _, amount in self.parts)


@dataclass(frozen=True, slots=True)
class _Layout:
    label: int
    track: int
    """Cells for parts and room; the line of the capacity takes one more."""
    note: int


def bar_rows(bars: Sequence[Bar], capacity: int, width: int, pen: Pen) -> tuple[Row, ...]:
    """All bars on one scale, exactly `width` cells wide; a capacity of 0 is one that nobody knows."""
    layout = _layout(bars, width, pen)
    scale = max([capacity, *(bar.total for bar in bars)])
    return tuple(row for bar in bars for row in _bar(bar, (capacity, scale), layout, pen))


def chip(role: str, pen: Pen) -> Span:
    """The three cells that stand for a part in legends: its letter on its ground, or before its pattern."""
    drawn = pen.glyphs.segment(role, 3)
    return Span(f" {drawn[0]} " if drawn.endswith("  ") else drawn, fill(role))


def _layout(bars: Sequence[Bar], width: int, pen: Pen) -> _Layout:
    label = max((width_of(bar.label) + 1 for bar in bars), default=0)
    measure = big_width if pen.big else width_of
    note = max((measure(bar.note) + 1 for bar in bars if bar.note), default=0)
    # A bar of four cells still says something; a label without its bar does not.
    note = note if width - label - note - 1 >= 4 else 0
    label = max(min(label, width - note - 5), 0)
    return _Layout(label, max(width - label - note - 1, 0), note)


def _bar(bar: Bar, scales: tuple[int, int], layout: _Layout, pen: Pen) -> list[Row]:
    track = track_row(bar, scales, layout.track, pen)
    label = Span(left(bar.label, layout.label, pen.glyphs.ellipsis), bar.label_role)
    width = layout.label + layout.track + 1 + layout.note
    if not pen.big:
        note = Span(right(bar.note, layout.note) if layout.note else "", bar.note_role)
        return [fit((label, *track, note), width)]
    digits = big_text(bar.note if layout.note else "", pen.glyphs)
    blank = Span(" " * layout.label)
    # The figures are half a line taller than two; the rest of the third keeps bars apart.
    gap = tuple(span if span.role == "capacity" else Span(" " * width_of(span.text)) for span in track)
    return [
        fit((head, *middle, Span(right(figure, layout.note), bar.note_role)), width)
        for head, middle, figure in zip((label, blank, blank), (track, track, gap), digits, strict=True)
    ]


def track_row(bar: Bar, scales: tuple[int, int], cells: int, pen: Pen) -> Row:
    """The parts, the room and the capacity's line, `cells + 1` wide; `scales` is (capacity, full width)."""
    capacity, scale = scales
    amounts = [amount for _, amount in bar.parts] + [scale - bar.total]
    roles = [role for role, _ in bar.parts] + ["free"]
    counts = share(amounts, cells) if scale else [0] * len(bar.parts) + [cells]
    drawn = [
        Span(pen.glyphs.segment(role, count), fill(role)) for role, count in zip(roles, counts, strict=True)
    ]
    if not capacity:
        # Without a capacity what is left of the row is not room.
        return fit(tuple(drawn[:-1]), cells + 1)
    place = cells if scale == capacity else capacity * cells // scale
    within, beyond = split(merge(drawn), place)
    return merge((*within, Span(pen.glyphs.capacity, "capacity"), *_say_over(_over(beyond))))


def _over(beyond: Row) -> Row:
    """What stands right of the capacity: parts in the colour of a warning, and no room."""
    return merge(
        Span(" " * len(span.text)) if span.role == fill("free") else Span(span.text, fill("over"))
        for span in beyond
    )


def _say_over(beyond: Row) -> Row:
    """Writes the word into the longest stretch of what is over, where it leaves the letters alone."""
    if not beyond or beyond[0].role != fill("over"):
        return beyond
    word = f" {tr('over')} "
    text = beyond[0].text
    stretch = max((match.span() for match in _STRETCH.finditer(text)), key=lambda span: span[1] - span[0])
    start, end = stretch[0] + 1, stretch[1]
    if end - start < width_of(word):
        return beyond
    start += (end - start - width_of(word)) // 2
    return (Span(text[:start] + word + text[start + width_of(word) :], fill("over")), *beyond[1:])


_STRETCH = re.compile(r".(.)?\1*")
"""A letter and the shades behind it."""


def split(row: Row, cells: int) -> tuple[Row, Row]:
    """The row cut in two after that many cells; for text whose characters are one cell wide."""
    before: list[Span] = []
    after: list[Span] = []
    for span in row:
        before.append(Span(span.text[:cells], span.role))
        after.append(Span(span.text[cells:], span.role))
        cells = max(cells - len(span.text), 0)
    return merge(before), merge(after)
