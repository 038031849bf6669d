"""The curve of step-end memory over the last steps of the rank that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state import live as state_of
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.cells import width_of
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui.view.trace import Scale, trace_rows

if TYPE_CHECKING:
    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui_engine.live.history import Point


def trend_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The title, which says what is drawn and its two ends, and the curve in the rows that are left."""
    rank = state_of.rank(state)
    if rank is None or box.height < 2:
        return ()
    values = [_value(point) for point in rank.history]
    known = [value for value in values if value is not None]
    if not known:
        return (
            rule_row(tr("trend"), box.width, pen),
            fit((Span(f" {tr('no step yet')}", "dim"),), box.width),
        )
    low, high = min(known), max(known)
    title = _title(rank.history, pen)
    ends = tr("{low} to {high}", low=pen.numbers.size(low), high=pen.numbers.size(high))
    heads = [(box.width - 1, ends)] if width_of(title) + width_of(ends) + 8 < box.width else []
    scale = Scale(low - max((high - low) // 4, 1), high)
    curve = trace_rows(values, scale, Box(box.width - 2, box.height - 1), pen.glyphs)
    return (rule_row(title, box.width, pen, heads), *(fit((Span(" "), *row), box.width) for row in curve))


def _value(point: Point) -> int | None:
    return point.host_rss if point.allocated is None else point.allocated


def _title(history: tuple[Point, ...], pen: Pen) -> str:
    """Which memory it is: the allocator's, or on a CPU the process's."""
    steps = pen.numbers.integer(history[-1].step - history[0].step + 1)
    if history[-1].allocated is None:
        return tr("resident memory of the process, {steps} steps", steps=steps)
    return tr("allocated at the end of a step, {steps} steps", steps=steps)
