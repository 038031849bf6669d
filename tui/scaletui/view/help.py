"""The help: every key of a screen by group, from the registry, and the letters of the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.actions import actions_of
from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.bars import chip
from scaletui.view.cells import left, width_of
from scaletui.view.footer import key_name
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui_themes import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.actions import Action
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

KEYS: Final = 20
"""Cells for the names of keys."""


def help_rows(mode: str, width: int, pen: Pen) -> tuple[Row, ...]:
    """All rows; a screen shows as many of them as it is tall."""
    rows: list[Row] = []
    actions = list(actions_of(mode))
    for group in dict.fromkeys(action.group for action in actions):
        rows.append(rule_row(tr(group), width, pen))
        rows += [_line(action, width, pen) for action in actions if action.group == group]
        rows.append(fit((), width))
    rows.append(rule_row(tr("parts of memory"), width, pen))
    rows += list(_legend(width, pen))
    return tuple(rows)


def help_page(mode: str, top: int, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The rows from `top` on, and a last one that says how to leave."""
    rows = help_rows(mode, box.width, pen)
    top = min(top, last_top(mode, box, pen))
    shown = rows[top : top + box.height - 1]
    blank = (fit((), box.width),) * (box.height - 1 - len(shown))
    more = pen.glyphs.down if top < last_top(mode, box, pen) else " "
    leave = (Span(" esc ", "key"), Span(tr("leave"), "dim"))
    scroll = (Span(f"  {tr('arrows')} ", "key"), Span(f"{tr('scroll')} {more}", "dim"))
    return (*shown, *blank, fit((*leave, *scroll), box.width))


def last_top(mode: str, box: Box, pen: Pen) -> int:
    """The first row of the last page."""
    return max(len(help_rows(mode, box.width, pen)) - (box.height - 1), 0)


def _line(action: Action, width: int, pen: Pen) -> Row:
    keys = "  ".join(_direction(key, pen) for key in action.keys)
    return fit((Span(left(f" {keys}", KEYS), "key"), Span(tr(action.tooltip))), width)


def _direction(key: str, pen: Pen) -> str:
    """Arrow keys one by one: the footer's "arrows" would be the same word four times."""
    names = {"up": tr("up"), "down": tr("down"), "left": tr("left"), "right": tr("right")}
    return names.get(key) or key_name(key)


def _legend(width: int, pen: Pen) -> Iterator[Row]:
    """The parts' letters, as many to a row as fit."""
    room = max(width_of(explain(part)) for part in PARTS) + 6
    each = max(width // room, 1)
    for start in range(0, len(PARTS), each):
        spans: list[Span] = []
        for part in PARTS[start : start + each]:
            spans += [Span(" "), chip(part, pen), Span(left(f" {explain(part)}", room - 4))]
        yield fit(tuple(spans), width)
