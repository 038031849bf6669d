"""A palette as a value: what each role looks like, in words that no terminal library owns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_themes.contrast import better_ink
from scaletui_themes.roles import FILLED, ROLES, fill

if TYPE_CHECKING:
    from collections.abc import Mapping

ATTRIBUTES: Final = ("bold", "dim", "italic", "underline", "reverse", "strike")
BASE: Final = ("foreground", "background", "surface", "panel", "primary", "secondary")
"""Colours that belong to no role: the grounds, and what the widgets of the library derive theirs from."""


class PaletteError(ValueError):
    """A palette file that is incomplete or says something that is no colour; `str()` names file and entry."""


@dataclass(frozen=True, slots=True)
class Look:
    """The look of one role."""

    foreground: str
    """`#rrggbb`, or `ansi_` and the name of one of the terminal's own sixteen colours, or `ansi_default`."""
    background: str = ""
    """The same, or empty where the ground shows through."""
    attributes: tuple[str, ...] = ()
    """Some of `ATTRIBUTES`."""


@dataclass(frozen=True, slots=True)
class Palette:
    """All looks of one theme."""

    id: str
    """The name of its file, "colour-blind"."""
    title: str
    """What a person reads in a list, in English."""
    dark: bool
    ansi: bool
    """True where the terminal's own colours are used, and nothing is set in RGB."""
    mono: bool
    """True where parts and actions have no hue, so that bars have to be drawn in patterns."""
    base: Mapping[str, str]
    looks: Mapping[str, Look]
    """Role -> look, for every one of `ROLES`."""


def parse_look(text: str) -> Look:
    """'#ff8800 on #101010 bold' as a look; 'on' and the attributes may be left out. Raises PaletteError."""
    words = text.split()
    attributes = tuple(word for word in words if word in ATTRIBUTES)
    colours = [word for word in words if word not in ATTRIBUTES]
    match colours:
        case [foreground]:
            background = ""
        case [foreground, "on", background]:
            pass
        case _:
            raise PaletteError(f"{text!r} is not 'COLOUR [on COLOUR] [{' | '.join(ATTRIBUTES)}]'")
    for colour in filter(None, (foreground, background)):
        check_colour(colour)
    return Look(foreground, background, attributes)


def check_colour(colour: str) -> None:
    """Refuse what is neither `#rrggbb` nor `ansi_name`. Raises PaletteError."""
    digits = colour.removeprefix("#").lower()
    is_rgb = colour.startswith("#") and len(digits) == 6 and set(digits) <= set("0123456789abcdef")
    if not is_rgb and colour not in _ANSI:
        raise PaletteError(f"{colour!r} is no colour: wanted #rrggbb or one of {', '.join(_ANSI)}")


def complete(looks: Mapping[str, Look], ink: tuple[str, str]) -> dict[str, Look]:
    """Add the fills that a file leaves out: the role's colour as ground, the better of two inks on it."""
    full = dict(looks)
    for role in FILLED:
        if fill(role) not in full and role in looks:
            ground = looks[role].foreground
            full[fill(role)] = Look(better_ink(ground, ink), ground)
    missing = [role for role in ROLES if role not in full]
    unknown = [role for role in full if role not in ROLES]
    if missing or unknown:
        raise PaletteError(f"roles missing: {missing or 'none'}; unknown: {unknown or 'none'}")
    return full


_HUES: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ANSI: Final = ("ansi_default", *(f"ansi_{hue}" for hue in _HUES), *(f"ansi_bright_{hue}" for hue in _HUES))
