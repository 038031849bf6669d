"""Themes in an app: which one a terminal gets, and that none can crash it."""

from __future__ import annotations

import pytest
from textual.theme import Theme

from scaletui.options import default_theme
from scaletui.theming import ThemedApp, textual_theme
from scaletui_themes import load_palette, theme_ids


@pytest.mark.parametrize(
    ("environ", "theme"),
    [
        ({"COLORTERM": "truecolor", "TERM": "xterm"}, "dark"),
        ({"TERM": "xterm-256color"}, "dark"),
        ({"TERM": "tmux-256color"}, "dark"),
        ({"TERM": "xterm-direct"}, "dark"),
        ({"TERM": "linux"}, "ansi"),
        ({"TERM": "linux", "COLORTERM": ""}, "ansi"),
        ({"TERM": "xterm"}, "ansi"),
        ({}, "ansi"),
        ({"NO_COLOR": "", "COLORTERM": "truecolor"}, "mono"),
    ],
)
def test_the_theme_that_a_terminal_gets(environ: dict[str, str], theme: str) -> None:
    assert default_theme(environ) == theme


def test_an_app_offers_our_themes_and_no_others() -> None:
    assert set(ThemedApp("dark").available_themes) == set(theme_ids())


@pytest.mark.parametrize("theme", theme_ids())
def test_a_theme_keeps_what_its_palette_says(theme: str) -> None:
    palette, made = load_palette(theme), textual_theme(load_palette(theme))
    assert (made.name, made.dark, made.ansi, made.background) == (
        palette.id, palette.dark, palette.ansi, palette.base["background"],
    )  # fmt: skip


@pytest.mark.parametrize("ansi", [False, True])
async def test_a_theme_that_knows_no_role_does_not_crash(ansi: bool) -> None:
    app = ThemedApp[int]("dark")
    blue = "ansi_blue" if ansi else "#0000ff"
    extra = {"ansi-background": "ansi_default", "ansi-foreground": "ansi_default"}
    app.register_theme(Theme("plain", primary=blue, ansi=ansi, variables=extra))
    async with app.run_test() as pilot:
        app.theme = "plain"
        await pilot.pause()
        wanted = load_palette("ansi" if ansi else "dark").looks["weights"].foreground
        assert app.theme_variables["role-weights"] == wanted
        assert app.has_hues


@pytest.mark.parametrize(("theme", "hues"), [("dark", True), ("ansi", True), ("mono", False)])
async def test_hues(theme: str, hues: bool) -> None:
    async with ThemedApp[int](theme).run_test() as pilot:
        assert pilot.app.has_hues is hues
