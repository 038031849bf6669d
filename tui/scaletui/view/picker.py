"""A list that is narrowed by typing, drawn in a frame of thin lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.text.language import ntr, tr
from scaletui.view.budget_stages import window
from scaletui.view.cells import crop, left, width_of
from scaletui.view.row import Row, Span, beside, fit
from scaletui.view.rule import heading, rule_row

if TYPE_CHECKING:
    from scaletui.state.picking import Item, Picking
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

BESIDE: Final = 5
"""Cells of the mark before a title and of the gap behind it."""


def picker_rows(title: str, picking: Picking, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title, what was typed, the items around the cursor, and how many there are, as far as there is room."""
    found = picking.found
    first, last = window(len(found), min(picking.place, max(len(found) - 1, 0)), max(box.height - 4, 1))
    names = max((width_of(item.title) for item in picking.items), default=0)
    lines = [
        _line(item, item is picking.chosen, (min(names, box.width // 2), box.width), pen)
        for item in found[first:last]
    ]
    if not found:
        lines = [fit((Span("   " + tr("nothing matches"), "dim"),), box.width)]
    blank = [fit((), box.width)] * (box.height - 4 - len(lines))
    rows = (
        rule_row(heading(title, focus=True), box.width, pen),
        fit((Span(" / ", "key"), Span(picking.query), Span(" ", "cursor")), box.width),
        *lines,
        *blank,
        fit((Span(pen.glyphs.horizontal * box.width, "border"),), box.width),
        _foot(len(found), box.width),
    )
    return rows[: box.height]


def _line(item: Item, is_chosen: bool, widths: tuple[int, int], pen: Pen) -> Row:
    names, width = widths
    mark = pen.glyphs.pointer if is_chosen else " "
    title = left(item.title, names, pen.glyphs.ellipsis)
    name = Span(title, "cursor" if is_chosen else "text")
    hint = crop(item.hint, max(width - names - BESIDE, 0), pen.glyphs.ellipsis)
    return fit((Span(f" {mark} ", "accent"), name, Span(f"  {hint}", "dim")), width)


def _foot(count: int, width: int) -> Row:
    choose = (Span(" enter ", "key"), Span(tr("choose"), "dim"))
    leave = (Span("  esc ", "key"), Span(tr("leave"), "dim"))
    return beside((*choose, *leave), (Span(ntr("{n} entry", "{n} entries", count) + " ", "dim"),), width)
