"""The traffic of one step as a pane: every collective with its axis, group, payload, bytes, link and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.budget_stages import window
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.table import Column, table_rows
from scaletui.view.traffic_report import what_text
from scaletui_engine.sharding.notes import mesh_notes

if TYPE_CHECKING:
    from scaletui.state.sharding_sight import Sight
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.traffic.table import TrafficRow

NARROW: Final = 100
"""Cells below which a column gives way to another."""
HEAD: Final = 2
"""Title and column heads."""


def traffic_pane(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As a framework sends it, or as papers count it; rows that do not fit are counted."""
    found, rows = sight.traffic, sight.rows
    if found is None:
        return (rule_row(tr("traffic of one step"), box.width, pen), *wrapped(sight.refusal, box.width))
    how = tr("as {framework} sends it", framework=found.framework)
    title = f"{tr('traffic of one step')}, {how if sight.look.implemented else tr('as papers count it')}"
    sent = tr("{size} sent by a GPU", size=pen.numbers.size(sum(row.call.sent for row in rows)))
    head = rule_row(title, box.width, pen, [(box.width, sent)])
    notes = _notes(sight, box)
    if not rows:
        return (head, fit((Span(" " + tr("nothing is sent"), "dim"),), box.width), *notes)
    first, last = rows_shown(sight, box.height)
    narrow = box.width < NARROW
    lines = [_cells(row, pen, narrow=narrow) for row in rows]
    shown = table_rows(_columns(narrow=narrow), lines, box.width - 1, pen.glyphs.ellipsis)
    kept = [_marked(shown[0], box.width, " ")]
    for place in range(first, last):
        mark = pen.glyphs.pointer if place == sight.look.traffic_row else " "
        kept.append(_marked(shown[place + 1], box.width, mark))
    rest = len(rows) - (last - first)
    more = (fit((Span(" " + tr("{n} more: t", n=rest), "dim"),), box.width),) if rest else ()
    return (head, *kept, *more, *notes)[: box.height]


def _notes(sight: Sight, box: Box) -> list[Row]:
    """What is strange about the mesh, in as many lines as the pane can spare."""
    texts = map(explain, mesh_notes(sight.scenario.model.arch, sight.scenario.plan))
    lines = [row for text in texts for row in wrapped(text, box.width, "warn")]
    return lines[: max(box.height - HEAD - 1, 0)]


def rows_shown(sight: Sight, height: int) -> tuple[int, int]:
    """Which rows a pane of that many lines shows: all, or those around the chosen one."""
    count, room = len(sight.rows), max(height - HEAD, 1)
    if count <= room:
        return 0, count
    return window(count, sight.look.traffic_row or 0, max(room - 1, 1))


def row_at(sight: Sight, height: int, y: int) -> int | None:
    """The row under a line of the pane."""
    first, last = rows_shown(sight, height)
    place = first + y - HEAD
    return place if first <= place < last else None


def _marked(row: Row, width: int, mark: str) -> Row:
    if mark == " ":
        return fit((Span(" "), *row), width)
    return fit((Span(mark, "cursor"), *(Span(span.text, "selection") for span in row)), width)


def _columns(*, narrow: bool) -> tuple[Column, ...]:
    """Where it is narrow the ranks of a group stand behind its axis, "fsdp 8", and what is sent is enough."""
    return (
        Column(tr("axis")),
        Column(tr("collective"), rank=2),
        Column(tr("what"), shrinks=True),
        *(() if narrow else (Column(tr("ranks"), numeric=True), Column(tr("groups"), numeric=True, rank=4))),
        Column(tr("count"), numeric=True),
        *(() if narrow else (Column(tr("payload"), numeric=True, rank=3),)),
        Column(tr("sent"), numeric=True),
        Column(tr("link")),
        Column(tr("time"), numeric=True, rank=1),
    )


def _cells(row: TrafficRow, pen: Pen, *, narrow: bool) -> tuple[Span, ...]:
    number, call = pen.numbers, row.call
    link = f"{tr('network')} {pen.glyphs.bad}" if row.network else "nvlink"
    return (
        Span(f"{row.group} {call.ranks}" if narrow else row.group, "accent"),
        Span(call.op.value),
        Span(what_text(call)),
        *(() if narrow else (Span(number.integer(call.ranks)), Span(number.integer(row.groups)))),
        Span(number.integer(call.collectives)),
        *(() if narrow else (Span(number.size(call.bytes)),)),
        Span(number.size(call.sent)),
        Span(link, "warn" if row.network else "text"),
        Span("-" if row.seconds is None else number.seconds(row.seconds)),
    )
