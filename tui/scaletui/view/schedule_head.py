"""Above the lanes: what time is counted in, how fast it runs, and the playhead in a row of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.schedule import Messages, Unit
from scaletui.text.language import N_, tr
from scaletui.view.cells import width_of
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui.view.schedule_bubble import bubble_texts
from scaletui.view.schedule_lanes import label_width
from scaletui.view.schedule_times import plain, range_text, ticks, time_text

if TYPE_CHECKING:
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.pen import Pen
    from scaletui.view.schedule_layout import Layout


def head_rows(sight: Sight, layout: Layout, width: int, pen: Pen) -> tuple[Row, ...]:
    """Two rows; a tick of the clock changes the second."""
    label = label_width(sight, layout, pen)
    return (_title(sight, layout, width, pen), playhead_row(sight, label, width, pen))


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


def _title(sight: Sight, layout: Layout, width: int, pen: Pen) -> Row:
    """What is not on the screen is told by the part that is, "r0-15 of 64", "0 - 35"; or stands here."""
    unit = sight.picture.question.unit
    stretch = sight.stretch(width - label_width(sight, layout, pen))
    facts = []
    first, stop = layout.groups[0].start, layout.groups[-1].stop
    if stop - first < sight.picture.ranks:
        facts.append(tr("{shown} of {ranks}", shown=f"r{first}-{stop - 1}", ranks=sight.picture.ranks))
    if stretch.end - stretch.start < sight.picture.makespan * (1 - 1e-9):
        facts.append(range_text(stretch.start, stretch.end, unit, pen))
    heads = _before([(width, clock_text(sight, pen))], "   ".join(facts))
    if not layout.bare:
        return rule_row(_unit_text(sight), width, pen, heads)
    text, bubble = _side_by_side(sight, _start(heads[0]) - 6, pen)
    return rule_row(text, width, pen, _before(heads, bubble))


def _side_by_side(sight: Sight, room: int, pen: Pen) -> tuple[str, str]:
    """The unit and the bubble in one rule: as much of the bubble as there is room for, then of the unit."""
    units = (_unit_text(sight, short=True), _unit_text(sight, least=True))
    for bubble in bubble_texts(sight, pen):
        for text in units:
            if width_of(text) + width_of(bubble) <= room:
                return text, bubble
    return units[0], ""


def _before(heads: list[tuple[int, str]], text: str) -> list[tuple[int, str]]:
    """The heads of a rule, and one more in front of them where there is something to say."""
    return [(_start(heads[0]), text), *heads] if text else heads


def _start(head: tuple[int, str]) -> int:
    """The column where a head of a rule begins."""
    end, text = head
    return end - width_of(text) - 2


def _unit_text(sight: Sight, *, short: bool = False, least: bool = False) -> str:
    sent = _SENT[sight.picture.question.messages]
    if sight.picture.question.unit is Unit.SECONDS:
        if least:
            return _with(tr("s, estimated"), sent)
        return _with(tr("seconds, estimated") if short else tr("seconds, estimated from the scenario"), sent)
    if sight.is_comparison:
        return _with(tr("t: the forward of one rank's layers"), sent)
    costs = ", ".join(f"{letter} {cost}" for kind, letter, cost in _COSTS if kind in sight.own.chart.kinds)
    if least or sent:
        return _with(f"t: {costs}", sent)
    return tr("t: {costs}; messages free", costs=costs)


def _with(text: str, sent: str) -> str:
    return f"{text}; {tr(sent)}" if sent else text


_SENT: Final = {
    Messages.ASYNC: "",
    Messages.BLOCKING: N_("sends block"),
    Messages.IN_ORDER: N_("messages in order"),
    Messages.LATE_LAUNCH: N_("sends start late"),
}
"""What a message costs the ranks, beside its time."""


_COSTS: Final = (("forward", "F", 1), ("input_grad", "I", 1), ("weight_grad", "W", 1), ("backward", "B", 2))
"""Unit times."""
