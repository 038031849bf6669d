"""The table of all schedules for one pipeline, the best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.schedule_table import Order
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.budget_stages import window
from scaletui.view.cells import crop, left, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.schedule_names import schedule_sentence
from scaletui.view.schedule_times import plain, time_text
from scaletui.view.table import GAP, Column, table_rows
from scaletui_engine.schedule_rules import schedule_names

if TYPE_CHECKING:
    from scaletui.state.schedule import Question
    from scaletui.state.schedule_table import Entry, Table
    from scaletui.view.pen import Pen
    from scaletui.view.table import Line

WORDS: Final = 3
"""Rows of words: the longest refusal in a language of long words."""
SMALL: Final = 18
"""Rows of a screen below which the list takes one of them."""
HEADS: Final = 2
"""Title, and the heads of the columns."""
EVERY: Final = len(schedule_names())
"""Schedules of a table that is complete."""


def table_screen_rows(title: str, table: Table, question: Question, room: tuple[Box, Pen]) -> tuple[Row, ...]:
    """Title, list, what the chosen one does, keys; as tall as the box."""
    box, pen = room
    about = _about(table, box, pen)
    room_of_list = box.height - len(about)
    rows = list(schedule_table(title, table, question, (Box(box.width, room_of_list), pen)))
    rows += [fit((), box.width)] * (room_of_list - len(rows))
    return (*rows, *about)[: box.height]


def schedule_table(title: str, table: Table, question: Question, room: tuple[Box, Pen]) -> tuple[Row, ...]:
    """Title and list, the schedule under the cursor lit."""
    box, pen = room
    shown, chosen = table.sorted, table.chosen
    first, last = window(max(len(shown), 1), table.place, box.height - HEADS)
    place_text = _scrolled(first, last, len(shown), pen)
    heads = [(box.width - 2, "   ".join(filter(None, (_order(table), place_text))))]
    ranks, microbatches = question.shape
    name = f"{title}: p {ranks}  m {microbatches}"
    lines = [_line(entry, question, pen, is_chosen=entry is chosen) for entry in shown[first:last]]
    head, *body = table_rows(_columns(question), lines, box.width, pen.glyphs.ellipsis)
    label = max((width_of(line[0].text) for line in lines), default=0) + GAP
    pairs = zip(shown[first:last], lines, body, strict=True)
    rows = [_refused(entry, line, (label, box.width, pen)) or row for entry, line, row in pairs]
    place = table.place - first
    lit = [_lit(row) if at == place else row for at, row in enumerate(rows)]
    return (rule_row(name, box.width, pen, heads), head, *lit)[: box.height]


def _scrolled(first: int, last: int, count: int, pen: Pen) -> str:
    """Which lines are to be seen, and where the others are; an arrow alone would be one of the sorting."""
    if last - first >= count:
        return ""
    marks = (pen.glyphs.up if first else "") + (pen.glyphs.down if last < count else "")
    return f"{tr('{shown} of {ranks}', shown=f'{first + 1}-{last}', ranks=count)} {marks}"


def _order(table: Table) -> str:
    """What the list is sorted by, after how far it has got."""
    order = tr("by bubble") if table.order is Order.BUBBLE else tr("by memory")
    count = len(table.entries)
    return order if count >= EVERY else f"{tr('{count} of {every}', count=count, every=EVERY)}  {order}"


def _refused(entry: Entry, line: Line, room: tuple[int, int, Pen]) -> Row | None:
    """A refusal takes the place of the figures, without the name again; the whole of it stands below."""
    if not entry.refusal:
        return None
    label, width, pen = room
    reason = crop(entry.refusal.removeprefix(f"{entry.name} "), width - label, pen.glyphs.ellipsis)
    return fit((Span(left(line[0].text, label), "dim"), Span(reason, "dim")), width)


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
    )


def _line(entry: Entry, question: Question, pen: Pen, *, is_chosen: bool) -> Line:
    mark = pen.glyphs.mark if entry.name in _present(question) else " "
    pointer = pen.glyphs.pointer if is_chosen else " "
    name = f"{pointer}{mark} {entry.name}"
    if entry.refusal:
        return (Span(name), *[Span("")] * 5)
    percent = pen.numbers.percent
    texts = (
        name,
        str(entry.chunks),
        time_text(entry.makespan, question.unit, pen),
        percent(entry.over_makespan, 1),
        percent(entry.zero_bubble, 1),
        plain(entry.peak, pen),
    )
    return tuple(Span(text) for text in texts)


def _present(question: Question) -> tuple[str, ...]:
    return (question.scenario.plan.schedule, *question.beside)


def _about(table: Table, box: Box, pen: Pen) -> tuple[Row, ...]:
    chosen, width = table.chosen, box.width
    text = "" if chosen is None else chosen.refusal or schedule_sentence(chosen.name)
    count = WORDS - (box.height < SMALL)
    words = [*wrapped(text, width), *[fit((), width)] * count][:count]
    names = (("enter", tr("take")), ("s", tr("sort")), (tr("arrows"), tr("choose")), ("esc", tr("leave")))
    keys = [span for key, what in names for span in (Span(f" {key} ", "key"), Span(f"{what} ", "dim"))]
    return (rule_row(tr("what it does"), width, pen), *words, fit(tuple(keys), width))
