"""The curves of the rank that is looked at: memory at the end of a step, and the time of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state import live as state_of
from scaletui.text.language import ntr, tr
from scaletui.view.box import Box
from scaletui.view.cells import width_of
from scaletui.view.live_unseen import no_step_text
from scaletui.view.live_wave import wave_rows
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui.view.trace import Scale, trace_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.live import LiveState
    from scaletui.view.pen import Pen
    from scaletui_engine.live.history import Point

TALLEST: Final = 8
"""Rows of one curve; a taller one says no more."""
LEAST_WAVE: Final = 7
"""Rows that curves have to leave for the units to be drawn under them."""
BOTH: Final = 8
"""Rows from which there is room for the second curve."""


def trend_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The curves, and under them the units where there is room."""
    rows = curve_rows(state, box, pen)
    rank, left = state_of.rank(state), box.height - len(rows)
    if rank is not None and rank.history and rank.wave and left >= LEAST_WAVE:
        rows += wave_rows(rank, Box(box.width, left), pen)
    return rows


def curve_rows(state: LiveState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Each curve under a title that says what is drawn and its two ends; as many as there is room for."""
    rank = state_of.rank(state)
    if rank is None or box.height < 2:
        return ()
    if not rank.history:
        return (
            rule_row(tr("trend"), box.width, pen),
            fit((Span(f" {no_step_text(rank)}", "dim"),), box.width),
        )
    height = min(box.height // 2 if box.height >= BOTH else box.height, TALLEST + 1)
    rows = _memory(rank.history, Box(box.width, height), pen)
    if box.height >= BOTH:
        rows += _step_time(rank.history, Box(box.width, height), pen)
    return rows


def _memory(history: Sequence[Point], box: Box, pen: Pen) -> tuple[Row, ...]:
    values = [point.host_rss if point.allocated is None else point.allocated for point in history]
    known = [value for value in values if value is not None]
    low, high = min(known, default=0), max(known, default=0)
    ends = tr("{low} to {high}", low=pen.numbers.size(low), high=pen.numbers.size(high))
    # A flat line of bytes stays flat, in the middle: the scale never zooms in on less than a thousandth.
    span = max(high - low, high // 1_000, 1)
    is_flat = high - low < span
    scale = Scale(high - 2 * span, high + 2 * span) if is_flat else Scale(high - span * 1.25, high)
    title = _title(history[-1].step - history[0].step + 1, history[-1].allocated is None, pen)
    return _curve((title, ends), (values, scale), box, pen)


def _title(steps: int, is_process: bool, pen: Pen) -> str:
    """Which memory it is: the allocator's, or on a CPU the process's."""
    count = pen.numbers.integer(steps)
    if is_process:
        return ntr(
            "resident memory of the process, {steps} step",
            "resident memory of the process, {steps} steps",
            steps,
            steps=count,
        )
    return ntr(
        "allocated at the end of a step, {steps} step",
        "allocated at the end of a step, {steps} steps",
        steps,
        steps=count,
    )


def _step_time(history: Sequence[Point], box: Box, pen: Pen) -> tuple[Row, ...]:
    values = [None if point.step_ns is None else point.step_ns / 1e9 for point in history]
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    ends = tr("{low} to {high}", low=pen.numbers.seconds(low), high=pen.numbers.seconds(high))
    return _curve((tr("time of a step"), ends), (values, Scale(0.0, high)), box, pen)


def _curve(
    words: tuple[str, str], curve: tuple[Sequence[float | None], Scale], box: Box, pen: Pen
) -> tuple[Row, ...]:
    title, ends = words
    heads = [(box.width - 1, ends)] if width_of(title) + width_of(ends) + 8 < box.width else []
    rows = trace_rows(*curve, Box(box.width - 2, box.height - 1), pen.glyphs)
    return (
        rule_row(title, box.width, pen, heads),
        *(fit((Span(" "), *row), box.width) for row in rows),
    )
