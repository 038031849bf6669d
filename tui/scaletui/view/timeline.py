"""Lanes of actions over time, one lane for each rank, and the playhead above them in a row of its own."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Final

from scaletui.view.cells import left, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.pen import Pen


@dataclass(frozen=True, slots=True)
class Block:
    """One action: half-open in time."""

    start: float
    end: float
    text: str
    """The microbatch."""
    role: str
    """An action, with `_odd` on an odd chunk."""


@dataclass(frozen=True, slots=True)
class Lane:
    """What one rank does, in order of time; blocks do not overlap."""

    label: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that is on the screen, and the cells it is drawn on."""

    start: float
    end: float
    cells: int

    def column(self, time: float) -> int:
        """The cell in which a time lies, or its left edge; outside the window beyond the cells."""
        return floor((time - self.start) / (self.end - self.start) * self.cells + _EDGE)

    def time(self, column: int) -> float:
        """The time at the middle of a cell."""
        return self.start + (column + 0.5) * (self.end - self.start) / self.cells


def window_of(lanes: Sequence[Lane], width: int) -> Window:
    """The whole schedule beside its labels, in whole cells per unit of time where they fit."""
    end = max((block.end for lane in lanes for block in lane.blocks), default=0.0) or 1.0
    cells = max(width - label_width(lanes), 1)
    per_unit = floor(cells / end)
    return Window(0.0, cells / per_unit if per_unit else end, cells)


def label_width(lanes: Sequence[Lane]) -> int:
    """Cells that the labels take, one blank included."""
    return max((width_of(lane.label) + 1 for lane in lanes), default=0)


def timeline_rows(lanes: Sequence[Lane], window: Window, pen: Pen) -> tuple[Row, ...]:
    """One row for each lane (two where it is big): its label, then the window's cells."""
    label = label_width(lanes)
    rows: list[Row] = []
    for lane in lanes:
        cells = _cells(lane, window, pen)
        rows.append(fit((Span(left(lane.label, label), "dim"), *cells), label + window.cells))
        if pen.big:
            # The second line repeats the grounds; the text stands on the first.
            under = tuple(Span(" " * width_of(span.text), span.role) for span in cells)
            rows.append(fit((Span(" " * label), *under), label + window.cells))
    return tuple(rows)


def playhead_row(time: float, window: Window, label: int, pen: Pen) -> Row:
    """The row above the lanes: a tick of the clock rewrites this one alone."""
    column = window.column(time)
    if not 0 <= column < window.cells:
        return fit((), label + window.cells)
    return fit((Span(" " * (label + column)), Span(pen.glyphs.playhead, "playhead")), label + window.cells)


def block_at(lane: Lane, time: float) -> Block | None:
    """What the lane does at that time, or None where it idles."""
    return next((block for block in lane.blocks if block.start <= time < block.end), None)


def _cells(lane: Lane, window: Window, pen: Pen) -> Row:
    """A cell belongs to the block that covers its middle."""
    idle = pen.glyphs.shades.get("idle", " ")
    spans: list[Span] = []
    blocks = iter(lane.blocks)
    block = next(blocks, None)
    column = 0
    while column < window.cells:
        time = window.time(column)
        while block is not None and block.end <= time:
            block = next(blocks, None)
        until = window.end if block is None else block.start if block.start > time else block.end
        end = _first_column_from(until, window, column)
        if block is None or block.start > time:
            spans.append(Span(idle * (end - column), "idle"))
        else:
            spans.append(Span(_text(block, end - column, pen), fill(block.role)))
        column = end
    return merge(spans)


def _first_column_from(time: float, window: Window, column: int) -> int:
    """The first cell after `column` whose middle is not before that time."""
    end = max(window.column(time) - 1, column + 1)
    while end < window.cells and window.time(end) < time:
        end += 1
    return min(end, window.cells)


def _text(block: Block, width: int, pen: Pen) -> str:
    letter = pen.glyphs.letter(block.role.removesuffix("_odd"))
    spelled = letter + block.text
    text = spelled if pen.glyphs.spells_actions and width >= width_of(spelled) else block.text
    return left(text if width_of(text) <= width else letter, width)


_EDGE: Final = 1e-9
