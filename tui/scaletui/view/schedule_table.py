"""The table of all schedules for one pipeline, the best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.schedule_table import Order
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.budget_stages import window
from scaletui.view.cells import crop
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.schedule_names import schedule_sentence
from scaletui.view.schedule_times import plain, time_text
from scaletui.view.table import Column, table_rows

if TYPE_CHECKING:
    from scaletui.state.schedule import Question
    from scaletui.state.schedule_table import Entry, Table
    from scaletui.view.pen import Pen
    from scaletui.view.table import Line

ABOUT: Final = 4
"""Rows under the list: a rule, two of words, and the keys."""
HEADS: Final = 2
"""Title, and the heads of the columns."""
REASON: Final = 48
"""Cells of a refusal in the list; the whole of it stands below."""


def table_screen_rows(title: str, table: Table, question: Question, room: tuple[Box, Pen]) -> tuple[Row, ...]:
    """Title, list, what the chosen one does, keys; as tall as the box."""
    box, pen = room
    rows = list(schedule_table(title, table, question, (Box(box.width, box.height - ABOUT), pen)))
    rows += [fit((), box.width)] * (box.height - ABOUT - len(rows))
    return (*rows, *_about(table, box.width, pen))[: box.height]


def schedule_table(title: str, table: Table, question: Question, room: tuple[Box, Pen]) -> tuple[Row, ...]:
    """Title and list, the schedule under the cursor lit."""
    box, pen = room
    shown, chosen = table.sorted, table.chosen
    first, last = window(max(len(shown), 1), table.place, box.height - HEADS)
    marks = (pen.glyphs.up if first else "", pen.glyphs.down if last < len(shown) else "")
    order = tr("by bubble") if table.order is Order.BUBBLE else tr("by memory")
    heads = [(box.width - 2, " ".join(filter(None, (order, *marks))))]
    ranks, microbatches = question.shape
    name = f"{title}: p {ranks}  m {microbatches}"
    lines = [_line(entry, question, pen, is_chosen=entry is chosen) for entry in shown[first:last]]
    head, *body = table_rows(_columns(question), lines, box.width, pen.glyphs.ellipsis)
    pairs = zip(shown[first:last], body, strict=True)
    lit = [_lit(row) if entry is chosen else row for entry, row in pairs]
    return (rule_row(name, box.width, pen, heads), head, *lit)[: box.height]


def _lit(row: Row) -> Row:
    return merge(Span(span.text, "cursor") for span in row)


def _columns(question: Question) -> tuple[Column, ...]:
    return (
        Column(" " + tr("schedule")),
        Column("v", numeric=True, rank=2),
        Column(tr("makespan, {unit}", unit=question.unit.value), numeric=True),
        Column(tr("bubble B"), numeric=True),
        Column("C", numeric=True, rank=1),
        Column(tr("peak"), numeric=True),
        Column("", rank=3, shrinks=True),
    )


def _line(entry: Entry, question: Question, pen: Pen, *, is_chosen: bool) -> Line:
    mark = pen.glyphs.mark if entry.name in _present(question) else " "
    pointer = pen.glyphs.pointer if is_chosen else " "
    name = f"{pointer}{mark} {entry.name}"
    if entry.refusal:
        reason = crop(entry.refusal, REASON, pen.glyphs.ellipsis)
        return (Span(name, "dim"), *[Span("")] * 5, Span(reason, "dim"))
    percent = pen.numbers.percent
    texts = (
        name,
        str(entry.chunks),
        time_text(entry.makespan, question.unit, pen),
        percent(entry.over_makespan, 1),
        percent(entry.zero_bubble, 1),
        plain(entry.peak, pen),
        "",
    )
    return tuple(Span(text) for text in texts)


def _present(question: Question) -> tuple[str, ...]:
    return (question.scenario.plan.schedule, *question.beside)


def _about(table: Table, width: int, pen: Pen) -> tuple[Row, ...]:
    chosen = table.chosen
    text = "" if chosen is None else chosen.refusal or schedule_sentence(chosen.name)
    words = [*wrapped(text, width), fit((), width), fit((), width)][:2]
    names = (("enter", tr("take")), ("s", tr("sort")), (tr("arrows"), tr("choose")), ("esc", tr("leave")))
    keys = [span for key, what in names for span in (Span(f" {key} ", "key"), Span(f"{what} ", "dim"))]
    return (rule_row(tr("what it does"), width, pen), *words, fit(tuple(keys), width))
