"""The line that asks for a file name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import heading, rule_row

if TYPE_CHECKING:
    from scaletui.state.naming import Naming
    from scaletui.view.pen import Pen


def save_rows(title: str, naming: Naming, width: int, pen: Pen) -> tuple[Row, ...]:
    """Title, name, what stands in the way, and the keys; the end of a long name stays in view."""
    room = max(width - 3, 1)
    keys = (Span(" enter ", "key"), Span(tr("save"), "dim"), Span("  esc ", "key"), Span(tr("leave"), "dim"))
    return (
        rule_row(heading(title, focus=True), width, pen),
        fit((Span(" "), Span(naming.text[-room:]), Span(" ", "cursor")), width),
        fit((Span(f" {naming.warning}", "warn"),), width),
        fit((Span(pen.glyphs.horizontal * width, "border"),), width),
        fit(keys, width),
    )
