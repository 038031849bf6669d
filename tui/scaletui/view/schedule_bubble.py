"""The four numbers that people call the bubble, by name: in one row, or as a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state.schedule import Unit
from scaletui.text.language import tr
from scaletui.view.row import Row, Span, fit, row_width
from scaletui.view.rule import pair_row, rule_row
from scaletui.view.schedule_times import range_text, time_text

if TYPE_CHECKING:
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.pen import Pen


def bubble_row(sight: Sight, width: int, pen: Pen) -> Row:
    """All four in one row: what they are over, where there is room for that."""
    bubble, percent = sight.own.bubble, pen.numbers.percent
    values = (
        percent(bubble.over_ideal, 1),
        percent(bubble.over_makespan, 1),
        percent(bubble.zero_bubble, 1),
    )
    named = (tr("A/ideal"), tr("B/makespan"), tr("C/zero-bubble"), tr("D/rank"))
    rows = (
        _named(named, (*values, per_rank(sight, pen))),
        _named(named, (*values, short_per_rank(sight, pen))),
        _named(tuple("ABCD"), (*values, per_rank(sight, pen))),
        _named(tuple("ABCD"), (*values, short_per_rank(sight, pen))),
    )
    return fit(next((row for row in rows if row_width(row) <= width), rows[-1]), width)


def _named(names: tuple[str, ...], values: tuple[str, ...]) -> Row:
    spans = [Span(f" {tr('bubble')}", "title")]
    for name, value in zip(names, values, strict=True):
        spans += [Span(f"  {name} ", "dim"), Span(value)]
    return tuple(spans)


def bubble_texts(sight: Sight, pen: Pen) -> tuple[str, ...]:
    """What the answer's B leaves to say, for a place between other words: all of it, then ever less.

    A goes before D does: it is B / (1 - B).
    """
    bubble, percent = sight.own.bubble, pen.numbers.percent
    span = f"C {percent(bubble.zero_bubble, 1)}"
    alone = f"{span}  D {short_per_rank(sight, pen)}"
    every = f"A {percent(bubble.over_ideal, 1)}  {alone}"
    return (f"{tr('bubble')} {every}", every, alone, span)


def bubble_panel(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """A title and one row a definition."""
    bubble, percent = sight.own.bubble, pen.numbers.percent
    lines = (
        (tr("A  idle over ideal time"), percent(bubble.over_ideal, 1)),
        (tr("B  idle over makespan"), percent(bubble.over_makespan, 1)),
        (tr("C  the zero-bubble paper's"), percent(bubble.zero_bubble, 1)),
        (tr("D  idle of each rank"), per_rank(sight, pen)),
    )
    rows = [pair_row(Span(name), value, width, pen) for name, value in lines]
    return (rule_row(tr("the bubble, by definition"), width, pen), *rows)


def per_rank(sight: Sight, pen: Pen) -> str:
    """Idle time of the ranks: one figure where all are equal, else the least and the most."""
    unit, idle = sight.picture.question.unit, sight.own.bubble.per_rank
    least, most = (time_text(value, unit, pen) for value in (min(idle), max(idle)))
    text = least if least == most else tr("{least} to {most}", least=least, most=most)
    return f"{text} t" if unit is Unit.STEPS else text


def short_per_rank(sight: Sight, pen: Pen) -> str:
    """The same with a stroke for "to"."""
    unit, idle = sight.picture.question.unit, sight.own.bubble.per_rank
    text = range_text(min(idle), max(idle), unit, pen)
    return f"{text} t" if unit is Unit.STEPS else text
