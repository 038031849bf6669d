"""The line that asks for a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.cells import crop
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import heading, rule_row

if TYPE_CHECKING:
    from scaletui.view.pen import Pen


def ask_rows(words: tuple[str, str], text: str, width: int, pen: Pen) -> tuple[Row, ...]:
    """Title, text, an example of what may be typed, and the keys; the end of a long text stays in view."""
    title, hint = words
    keys = (
        Span(" enter ", "key"),
        Span(tr("take it"), "dim"),
        Span("  esc ", "key"),
        Span(tr("leave"), "dim"),
    )
    return (
        rule_row(heading(title, focus=True), width, pen),
        fit((Span(" "), Span(text[-max(width - 3, 1) :]), Span(" ", "cursor")), width),
        fit((Span(f" {crop(hint, width - 1, pen.glyphs.ellipsis)}", "dim"),), width),
        fit((Span(pen.glyphs.horizontal * width, "border"),), width),
        fit(keys, width),
    )
