"""The scenario as a list of fields: the chosen one between arrows, or with what is being typed.

 ─ plan ────────────────
  gpus         8
▶ tp          ‹ 2 ›
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.editing import value_text
from scaletui.text.language import tr
from scaletui.view.budget_stages import window
from scaletui.view.cells import crop, left, width_of
from scaletui.view.field_names import field_name
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import heading, rule_row
from scaletui_engine.edit import FIELDS

if TYPE_CHECKING:
    from scaletui.state.editing import Editing
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

LABEL: Final = 12


def plan_rows(editing: Editing, box: Box, pen: Pen, *, focus: bool) -> tuple[Row, ...]:
    """Title and fields, as many as the box holds, the chosen one among them."""
    first, last = window(len(FIELDS), FIELDS.index(editing.field), box.height - 1)
    marks = (pen.glyphs.up if first else "", pen.glyphs.down if last < len(FIELDS) else "")
    heads = [(box.width - 1, " ".join(filter(None, marks)))] if any(marks) else []
    title = rule_row(heading(tr("plan"), focus=focus), box.width, pen, heads)
    fields = (
        _chosen(editing, box.width, pen)
        if focus and name == editing.field
        else _field(editing, name, box.width, pen)
        for name in FIELDS[first:last]
    )
    return (title, *fields)


def field_at(editing: Editing, y: int, height: int) -> str | None:
    """The field that stands on a line of a pane of that height."""
    first, last = window(len(FIELDS), FIELDS.index(editing.field), height - 1)
    return FIELDS[first + y - 1] if 0 < y <= last - first else None


def _field(editing: Editing, name: str, width: int, pen: Pen) -> Row:
    head = Span(f" {left(field_name(name), LABEL, pen.glyphs.ellipsis)} ", "dim")
    room = width - LABEL - 3
    return fit((head, Span(left(value_text(editing.scenario, name), room, pen.glyphs.ellipsis))), width)


def _chosen(editing: Editing, width: int, pen: Pen) -> Row:
    """The field that the arrow keys step, or that is being typed."""
    mark = Span(pen.glyphs.pointer, "accent")
    head = Span(left(field_name(editing.field), LABEL, pen.glyphs.ellipsis))
    room = width - LABEL - 1
    if editing.pending is not None:
        return fit((mark, head, *_pending(editing.pending, room)), width)
    text = crop(value_text(editing.scenario, editing.field), room - 2, pen.glyphs.ellipsis)
    return fit((mark, head, Span(f"{pen.glyphs.less}{text}{pen.glyphs.more}", "cursor")), width)


def _pending(text: str, room: int) -> Row:
    """What is being typed, its end in view, and the place of the next character."""
    shown = text[-(room - 3) :] if width_of(text) > room - 3 else text
    return (Span(f" {shown}", "accent"), Span(" ", "cursor"))
