"""Palette files are refused with the entry that is wrong."""

from __future__ import annotations

from importlib.resources import files

import pytest

from scaletui_themes import Look, PaletteError, fill, load_palette, stylesheet, theme_ids
from scaletui_themes.loader import parse_palette
from scaletui_themes.palette import parse_look

DARK = (files("scaletui_themes") / "palettes" / "dark.toml").read_text(encoding="utf-8")


def test_there_is_a_file_for_each_theme_and_a_theme_for_each_file() -> None:
    names = {path.name for path in (files("scaletui_themes") / "palettes").iterdir()}
    assert names == {f"{theme_id}.toml" for theme_id in theme_ids()}


@pytest.mark.parametrize(
    ("text", "look"),
    [
        ("#ff8800", Look("#ff8800")),
        ("#ff8800 on #101010", Look("#ff8800", "#101010")),
        ("ansi_bright_red bold reverse", Look("ansi_bright_red", "", ("bold", "reverse"))),
        ("ansi_default on ansi_black dim", Look("ansi_default", "ansi_black", ("dim",))),
    ],
)
def test_a_look_is_read(text: str, look: Look) -> None:
    assert parse_look(text) == look


@pytest.mark.parametrize(
    "text", ["", "red", "#ff88", "#gg0000", "#ff8800 #101010", "ansi_pink", "bold", "#ff8800 on"]
)
def test_a_look_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PaletteError):
        parse_look(text)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('weights = "#6aa9ff"\n', "", "weights"),
        ("[roles]\n", '[roles]\nwieghts = "#6aa9ff"\n', "wieghts"),
        ('weights = "#6aa9ff"', 'weights = "blue"', "blue"),
        ('panel = "#262645"\n', "", "panel"),
    ],
    ids=["role-missing", "role-unknown", "no-colour", "base-missing"],
)
def test_a_palette_that_is_incomplete_is_refused_by_name(old: str, new: str, named: str) -> None:
    assert old in DARK
    with pytest.raises(PaletteError, match=named):
        parse_palette("dark", DARK.replace(old, new))


def test_a_fill_is_the_colour_as_ground_with_the_ink_that_reads_better() -> None:
    palette = load_palette("dark")
    assert palette.looks[fill("weights")] == Look("#12121f", palette.looks["weights"].foreground)


def test_an_unknown_theme_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PaletteError, match="there are dark, light"):
        load_palette("solarized")


def test_an_unknown_stylesheet_is_refused() -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.tcss"):
        stylesheet("nothing")
