"""Row 1: the name, the scenario in one line, and the four modes with the current one reversed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.actions import action
from scaletui.options import MODES
from scaletui.text.language import tr
from scaletui.view.cells import crop, width_of
from scaletui.view.row import Row, Span, fit, row_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.pen import Pen

NAME: Final = " scaletui "
SHORT: Final = 3
"""Letters of a mode that is not the current one, where there is little room."""


def header_row(facts: Sequence[str], mode: str, width: int, pen: Pen) -> Row:
    """The whole row: facts give way from the last on, then the other modes shrink to three letters."""
    modes = modes_row(mode, is_wide=width >= WIDE)
    room = width - width_of(NAME) - row_width(modes) - 1
    line = fit_facts(facts, room, pen.glyphs.ellipsis)
    return fit(
        (Span(NAME, "title"), Span(line + " " * (room - width_of(line)), "text"), Span(" "), *modes), width
    )


WIDE: Final = 120
"""Columns from which the modes are written out with their keys."""


def modes_row(mode: str, *, is_wide: bool) -> Row:
    """The modes, each with its key where there is room."""
    spans: list[Span] = []
    for name in MODES:
        spans.append(Span(mode_label(name, is_current=name == mode, is_wide=is_wide), _role(name, mode)))
        spans.append(Span(" "))
    return tuple(spans)


def mode_label(name: str, *, is_current: bool, is_wide: bool) -> str:
    """What stands for a mode in the header."""
    entry = action(f"mode_{name}")
    title = tr(entry.title)
    if is_wide:
        return f" {entry.keys[0]} {title} "
    return f" {title} " if is_current else crop(title, SHORT)


def mode_at(x: int, mode: str, width: int) -> str | None:
    """The mode whose name stands in that column, for the mouse."""
    is_wide = width >= WIDE
    left = width - row_width(modes_row(mode, is_wide=is_wide))
    for name in MODES:
        right = left + width_of(mode_label(name, is_current=name == mode, is_wide=is_wide))
        if left <= x < right:
            return name
        left = right + 1
    return None


def fit_facts(facts: Sequence[str], room: int, ellipsis: str) -> str:
    """As many facts as fit, two blanks between them; where some are lost, an ellipsis says so."""
    for count in range(len(facts), 0, -1):
        kept = [*facts[:count], *([ellipsis] if count < len(facts) else [])]
        line = "  ".join(kept)
        if width_of(line) <= room:
            return line
    return crop(facts[0] if facts else "", max(room, 0), ellipsis)


def _role(name: str, mode: str) -> str:
    return "cursor" if name == mode else "dim"
