"""Turns palettes into themes of Textual, and the app class that no theme can crash."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from textual.app import ReturnType
from textual.theme import BUILTIN_THEMES, Theme

from scaletui.compat import FrugalApp
from scaletui.options import default_theme
from scaletui_themes import ROLES, load_palette, theme_ids

if TYPE_CHECKING:
    from scaletui_themes import Look, Palette

ROLE_STYLES: Final = {role: f"role-{role.replace('_', '-')}" for role in ROLES}
"""Role -> the stem of its CSS variables: `$role-weights`, `$role-weights-ground`, `$role-weights-style`."""


def textual_theme(palette: Palette) -> Theme:
    """The palette as a theme, its roles as CSS variables."""
    looks, base = palette.looks, palette.base
    return Theme(
        name=palette.id,
        primary=base["primary"],
        secondary=base["secondary"],
        warning=looks["warn"].foreground,
        error=looks["error"].foreground,
        success=looks["ok"].foreground,
        accent=looks["accent"].foreground,
        foreground=base["foreground"],
        background=base["background"],
        surface=base["surface"],
        panel=base["panel"],
        boost=base["surface"],
        dark=palette.dark,
        ansi=palette.ansi,
        variables=role_variables(palette) | widget_variables(palette),
    )


def role_variables(palette: Palette) -> dict[str, str]:
    """Three CSS variables for each role."""
    variables: dict[str, str] = {}
    for role, stem in ROLE_STYLES.items():
        look = palette.looks[role]
        variables[stem] = look.foreground
        variables[f"{stem}-ground"] = look.background or palette.base["background"]
        variables[f"{stem}-style"] = " ".join(look.attributes) or "none"
    return variables


def widget_variables(palette: Palette) -> dict[str, str]:
    """Variables by which the library's own widgets follow the palette."""
    looks, base = palette.looks, palette.base
    variables = {
        "ansi-background": base["background"],
        "ansi-foreground": base["foreground"],
        "border": looks["border"].foreground,
        "border-blurred": looks["border"].foreground,
        "footer-foreground": looks["dim"].foreground,
        "footer-background": base["background"],
        "footer-item-background": base["background"],
        "footer-key-foreground": looks["key"].foreground,
        "footer-key-background": base["background"],
        "footer-description-foreground": looks["dim"].foreground,
        "footer-description-background": base["background"],
        "scrollbar": looks["border"].foreground,
        "scrollbar-background": base["background"],
    }
    for stem, role in (("block-cursor", "cursor"), ("input-selection", "selection")):
        variables |= _look_variables(stem, looks[role], base["background"])
    return variables


def _look_variables(stem: str, look: Look, ground: str) -> dict[str, str]:
    return {
        f"{stem}-foreground": look.foreground,
        f"{stem}-background": look.background or ground,
        f"{stem}-text-style": " ".join(look.attributes) or "none",
    }


class ThemedApp(FrugalApp[ReturnType]):
    """An app with the themes of `scaletui_themes`; every role has a value under any theme."""

    def __init__(self, theme: str | None = None) -> None:
        self.is_colourless: Final = "NO_COLOR" in os.environ
        # Textual picks its colour filter once; under NO_COLOR only the native one keeps to default colours.
        super().__init__(ansi_color=True if self.is_colourless else None)
        for theme_id in theme_ids():
            self.register_theme(textual_theme(load_palette(theme_id)))
        self.theme = theme or default_theme(os.environ)
        for name in BUILTIN_THEMES:
            self.unregister_theme(name)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Roles for a theme that somebody registers and that knows none of them."""
        return role_variables(load_palette("ansi" if self.current_theme.ansi else "dark"))

    @property
    def has_hues(self) -> bool:
        """Whether colours tell parts apart at this moment."""
        known = self.theme in theme_ids()
        return not self.is_colourless and not (known and load_palette(self.theme).mono)
