"""Palettes and stylesheets as data, and the loader that reads them."""

from __future__ import annotations

from scaletui_themes.loader import load_palette, stylesheet, theme_ids
from scaletui_themes.palette import Look, Palette, PaletteError
from scaletui_themes.roles import ACTIONS, PARTS, ROLES, fill

__all__ = [
    "ACTIONS",
    "PARTS",
    "ROLES",
    "Look",
    "Palette",
    "PaletteError",
    "fill",
    "load_palette",
    "stylesheet",
    "theme_ids",
]
