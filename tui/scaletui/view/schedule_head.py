"""Above the lanes: what time is counted in, how fast it runs, and the playhead in a row of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state.schedule import Unit
from scaletui.text.language import tr
from scaletui.view.cells import width_of
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui.view.schedule_times import plain, ticks, time_text

if TYPE_CHECKING:
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.pen import Pen


def head_rows(sight: Sight, label: int, width: int, pen: Pen) -> tuple[Row, ...]:
    """Two rows; a tick of the clock changes the second."""
    return (_title(sight, label, width, pen), playhead_row(sight, label, width, pen))


def playhead_row(sight: Sight, label: int, width: int, pen: Pen) -> Row:
    """The marker with its time beside it."""
    stretch = sight.stretch(width - label)
    position, unit = sight.look.playback.position, sight.picture.question.unit
    column = stretch.column(position)
    time = time_text(position, unit, pen)
    if not 0 <= column < stretch.columns:
        at_end = column >= stretch.columns
        side = f"{time} {pen.glyphs.more}" if at_end else f"{pen.glyphs.less} {time}"
        blank = width - label - width_of(side) if at_end else 0
        return fit((Span(" " * (label + blank)), Span(side, "playhead")), width)
    if label + column + 2 + width_of(time) <= width:
        return fit((Span(" " * (label + column)), Span(f"{pen.glyphs.playhead} {time}", "playhead")), width)
    start = label + column - width_of(time) - 1
    return fit((Span(" " * start), Span(f"{time} {pen.glyphs.playhead}", "playhead")), width)


def axis_row(sight: Sight, label: int, width: int, pen: Pen) -> Row:
    """Round times at their columns."""
    stretch, unit = sight.stretch(width - label), sight.picture.question.unit
    line = ""
    for time in ticks(stretch, 8 if unit is Unit.STEPS else 12):
        start = label + stretch.column(time)
        text = time_text(time, unit, pen)
        if start >= width_of(line) and start + width_of(text) <= width:
            line = line + " " * (start - width_of(line)) + text
    return fit((Span(line, "dim"),), width)


def clock_text(sight: Sight, pen: Pen) -> str:
    """Whether time runs, and how fast."""
    playback = sight.look.playback
    sign = pen.glyphs.play if playback.playing else pen.glyphs.pause
    return f"{sign} {pen.glyphs.times}{plain(playback.speed, pen, 3)}"


def _title(sight: Sight, label: int, width: int, pen: Pen) -> Row:
    stretch, unit = sight.stretch(width - label), sight.picture.question.unit
    heads = [(width, clock_text(sight, pen))]
    if stretch.end - stretch.start < sight.picture.makespan:
        shown = (time_text(time, unit, pen) for time in (stretch.start, stretch.end))
        heads.insert(0, (width - 10, "{} - {}".format(*shown)))
    return rule_row(_unit_text(sight), width, pen, heads)


def _unit_text(sight: Sight) -> str:
    if sight.picture.question.unit is Unit.SECONDS:
        return tr("seconds, estimated from the scenario")
    if sight.is_comparison:
        return tr("t: the forward of one rank's layers")
    return tr("t: F 1, B 2; messages free") if "backward" in _kinds(sight) else tr("t: F, I, W 1 each")


def _kinds(sight: Sight) -> tuple[str, ...]:
    return sight.own.chart.kinds
