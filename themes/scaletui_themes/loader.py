"""Reads palettes and stylesheets, the data of this package."""

from __future__ import annotations

import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from scaletui_themes.palette import BASE, Palette, PaletteError, check_colour, complete, parse_look

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ROOT: Final = Path(str(files("scaletui_themes")))
_ORDER: Final = ("dark", "light", "high-contrast", "colour-blind", "mono", "ansi")


def theme_ids() -> tuple[str, ...]:
    """Ids of the palettes, in the order in which they are offered."""
    return _ORDER


@cache
def load_palette(theme_id: str) -> Palette:
    """The palette of that id. Raises PaletteError for an unknown id or an incomplete file."""
    if theme_id not in _ORDER:
        raise PaletteError(f"no theme {theme_id!r}: there are {', '.join(_ORDER)}")
    path = _ROOT / "palettes" / f"{theme_id}.toml"
    try:
        return parse_palette(theme_id, path.read_text(encoding="utf-8"))
    except PaletteError as error:
        raise PaletteError(f"{path.name}: {error}") from error


def parse_palette(theme_id: str, text: str) -> Palette:
    """A palette from the text of its file. Raises PaletteError."""
    table = tomllib.loads(text)
    base: dict[str, str] = table["base"]
    if set(base) != set(BASE):
        raise PaletteError(f"[base] wants exactly {', '.join(BASE)}, not {', '.join(base)}")
    for colour in base.values():
        check_colour(colour)
    looks = {role: parse_look(look) for role, look in table["roles"].items()}
    first, second = table["ink"]
    return Palette(
        id=theme_id,
        title=table["title"],
        dark=table["dark"],
        ansi=table["ansi"],
        mono=table["mono"],
        base=base,
        looks=complete(looks, (first, second)),
    )


def stylesheet(name: str) -> Path:
    """The path of a stylesheet, "app" for `app.tcss`. Raises FileNotFoundError."""
    path = _ROOT / "styles" / f"{name}.tcss"
    if not path.is_file():
        raise FileNotFoundError(f"no stylesheet {path}")
    return path
