"""The four numbers that people call the bubble, by name: in one row, or as a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state.schedule import Unit
from scaletui.text.language import tr
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import pair_row, rule_row
from scaletui.view.schedule_times import time_text

if TYPE_CHECKING:
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.pen import Pen


def bubble_row(sight: Sight, width: int, pen: Pen) -> Row:
    """All four in one row."""
    bubble, percent = sight.own.bubble, pen.numbers.percent
    spans = [Span(f" {tr('bubble')}", "title")]
    for name, value in (
        (tr("A/ideal"), percent(bubble.over_ideal, 1)),
        (tr("B/makespan"), percent(bubble.over_makespan, 1)),
        (tr("C/zero-bubble"), percent(bubble.zero_bubble, 1)),
        (tr("D/rank"), per_rank(sight, pen)),
    ):
        spans += [Span(f"  {name} ", "dim"), Span(value)]
    return fit(tuple(spans), width)


def bubble_texts(sight: Sight, pen: Pen) -> tuple[str, ...]:
    """What the answer's B leaves to say, for a place between other words: all of it, then ever less."""
    bubble, percent = sight.own.bubble, pen.numbers.percent
    span = f"C {percent(bubble.zero_bubble, 1)}"
    ideal = f"A {percent(bubble.over_ideal, 1)}  {span}"
    every = f"{ideal}  D {per_rank(sight, pen)}"
    return (f"{tr('bubble')} {every}", every, ideal, span)


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
