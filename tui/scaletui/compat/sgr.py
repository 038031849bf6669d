"""The shortest sequence from one style to the next (ECMA-48, "select graphic rendition")."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.style import Style

if TYPE_CHECKING:
    from rich.color import Color, ColorSystem

PLAIN: Final = Style.null()
"""What the terminal is in before and after each frame."""
RESET: Final = "\x1b[0m"

_ATTRIBUTES: Final = (
    ("bold", "1", "22"), ("dim", "2", "22"), ("italic", "3", "23"), ("underline", "4", "24"),
    ("underline2", "21", "24"), ("blink", "5", "25"), ("blink2", "6", "25"), ("reverse", "7", "27"),
    ("conceal", "8", "28"), ("strike", "9", "29"), ("overline", "53", "55"),
)  # fmt: skip
"""(name, code that switches it on, code that switches it off, for some together with another)."""
_OFF: Final = {on: off for _, on, off in _ATTRIBUTES}
_SEEN_ON_BLANKS: Final = ("underline", "reverse", "strike", "underline2", "overline", "blink", "blink2")


class _Codes(NamedTuple):
    attributes: tuple[str, ...]
    foreground: str
    background: str


@lru_cache(4096)
def change(before: Style, after: Style, system: ColorSystem) -> str:
    """The sequence that turns a terminal from one style into another; empty where nothing has to change."""
    old, new = _codes(before, system), _codes(after, system)
    if new == ((), "39", "49"):
        return RESET if old != new else ""
    off = {_OFF[code] for code in old.attributes if code not in new.attributes}
    kept = {code for code in old.attributes if _OFF[code] not in off}
    codes = [*sorted(off), *(code for code in new.attributes if code not in kept)]
    codes += [code for code, had in zip(new[1:], old[1:], strict=True) if code != had]
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def ground(style: Style) -> Style:
    """What a blank shows of a style: its background, or all of it where there is a line or a reversal."""
    return style if _shows_on_blanks(style) else _plain_on(style.bgcolor)


@lru_cache(4096)
def _shows_on_blanks(style: Style) -> bool:
    return any(getattr(style, name) for name in _SEEN_ON_BLANKS)


@lru_cache(1024)
def _plain_on(colour: Color | None) -> Style:
    return PLAIN if colour is None or colour.is_default else Style(bgcolor=colour)


@lru_cache(4096)
def _codes(style: Style, system: ColorSystem) -> _Codes:
    return _Codes(
        tuple(code for name, code, _ in _ATTRIBUTES if getattr(style, name)),
        _colour(style.color, system, foreground=True),
        _colour(style.bgcolor, system, foreground=False),
    )


def _colour(colour: Color | None, system: ColorSystem, *, foreground: bool) -> str:
    if colour is None:
        return "39" if foreground else "49"
    return ";".join(colour.downgrade(system).get_ansi_codes(foreground))
