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
    ("bold", "1"), ("dim", "2"), ("italic", "3"), ("underline", "4"), ("blink", "5"), ("blink2", "6"),
    ("reverse", "7"), ("conceal", "8"), ("strike", "9"), ("underline2", "21"), ("overline", "53"),
)  # fmt: skip
_SEEN_ON_BLANKS: Final = ("underline", "reverse", "strike", "underline2", "overline", "blink", "blink2")


class _Codes(NamedTuple):
    attributes: tuple[str, ...]
    foreground: str
    background: str


@lru_cache(4096)
def change(before: Style, after: Style, system: ColorSystem) -> str:
    """The sequence that turns a terminal from one style into another; empty where nothing has to change."""
    old, new = _codes(before, system), _codes(after, system)
    if set(old.attributes) <= set(new.attributes):
        codes = [code for code in new.attributes if code not in old.attributes]
        codes += [code for code, had in zip(new[1:], old[1:], strict=True) if code != had]
    else:
        # Attributes are only ever switched off all at once, which takes the colours along.
        codes = ["0", *new.attributes, *(code for code in new[1:] if code not in _DEFAULTS)]
    return f"\x1b[{';'.join(codes)}m" if codes else ""


@lru_cache(4096)
def ground(style: Style) -> Style:
    """What a blank shows of a style: its background, or all of it where there is a line or a reversal."""
    if any(getattr(style, name) for name in _SEEN_ON_BLANKS):
        return style
    return PLAIN if style.bgcolor is None or style.bgcolor.is_default else Style(bgcolor=style.bgcolor)


@lru_cache(4096)
def _codes(style: Style, system: ColorSystem) -> _Codes:
    return _Codes(
        tuple(code for name, code in _ATTRIBUTES if getattr(style, name)),
        _colour(style.color, system, foreground=True),
        _colour(style.bgcolor, system, foreground=False),
    )


def _colour(colour: Color | None, system: ColorSystem, *, foreground: bool) -> str:
    if colour is None:
        return "39" if foreground else "49"
    return ";".join(colour.downgrade(system).get_ansi_codes(foreground))


_DEFAULTS: Final = ("39", "49")
