"""What the live screen says while a job that it was opened for has published nothing yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.row import Row, Span, fit

if TYPE_CHECKING:
    from scaletui.options import Starting
    from scaletui.view.pen import Pen
    from scaletui_engine.live.snapshot import Moment


def starting_rows(starting: Starting, moment: Moment, width: int, pen: Pen) -> tuple[Row, ...]:
    """One row: what is starting and for how long already; or that it ended before it said anything."""
    if not starting.runs():
        text = tr("ended before its first sample: {command}", command=starting.command)
        return (fit((Span(f" {pen.glyphs.bad} {text}", "error"),), width),)
    seconds = pen.numbers.integer(max(moment.monotonic_ns - starting.since_ns, 0) // 1_000_000_000)
    text = tr("starting: {command}, {seconds} s", command=starting.command, seconds=seconds)
    return (fit((Span(f" {text}", "accent"),), width),)
