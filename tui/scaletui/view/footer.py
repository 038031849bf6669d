"""The last row: the keys that matter here, and the row above it that says what just happened."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.actions import FOOTER_KEYS
from scaletui.text.language import N_, tr
from scaletui.view.cells import crop, width_of
from scaletui.view.row import Row, Span, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.actions import Action
    from scaletui.view.pen import Pen

_KEY_NAMES: Final = MappingProxyType({
    "question_mark": "?", "slash": "/", "full_stop": ".", "comma": ",", "plus": "+", "minus": "-",
    "left": N_("arrows"), "right": N_("arrows"), "up": N_("arrows"), "down": N_("arrows"),
    "space": N_("space"), "enter": "enter", "tab": "tab", "shift+tab": "shift+tab", "escape": "esc",
})  # fmt: skip
"""What a key is called where Textual's own name is none a person would say."""


def key_name(key: str) -> str:
    """A key as people call it."""
    return tr(_KEY_NAMES[key]) if key in _KEY_NAMES else key


def footer_row(actions: Sequence[Action], width: int) -> Row:
    """At most seven keys with their titles; those that do not fit are left out whole."""
    spans: list[Span] = []
    for start, end, action in footer_places(actions, width):
        spans.append(Span(" " * (start - sum(width_of(span.text) for span in spans))))
        spans.append(Span(key_name(action.keys[0]), "key"))
        spans.append(Span(crop(f" {tr(action.title)}", end - start), "dim"))
    return fit(tuple(spans), width)


def footer_places(actions: Sequence[Action], width: int) -> list[tuple[int, int, Action]]:
    """(first column, one past the last, action) of every key that is shown, for drawing and for the mouse."""
    places: list[tuple[int, int, Action]] = []
    x = 1
    for action in actions[:FOOTER_KEYS]:
        end = x + width_of(key_name(action.keys[0])) + 1 + width_of(tr(action.title))
        if end <= width:
            places.append((x, end, action))
            x = end + 2
    return places


def notice_row(text: str, role: str, width: int, pen: Pen) -> Row:
    """One line that says what happened: an error with its mark, so that colour never stands alone."""
    if not text:
        return fit((), width)
    mark = f"{pen.glyphs.bad} " if role == "error" else ""
    return fit((Span(" "), Span(crop(mark + text, width - 1, pen.glyphs.ellipsis), role)), width)
