"""Glyph sets: one cell for each character, one letter and one pattern for each part."""

from __future__ import annotations

import unicodedata
from dataclasses import fields

import pytest
from rich.cells import cell_len

from scaletui.text.glyphs import ASCII, MONO, UNICODE, Glyphs, glyphs_for
from scaletui_themes import ACTIONS, PARTS

SETS = {"unicode": UNICODE, "mono": MONO, "ascii": ASCII}


def characters(glyphs: Glyphs) -> set[str]:
    """Every character of a set."""
    texts = [getattr(glyphs, field.name) for field in fields(glyphs)]
    drawn = [text for text in texts if isinstance(text, str)] + [*glyphs.shades.values()]
    return set("".join(drawn)) | {glyphs.letter(part) for part in (*PARTS, *ACTIONS)}


@pytest.mark.parametrize("name", SETS)
def test_every_character_is_one_cell_and_no_emoji(name: str) -> None:
    for character in characters(SETS[name]):
        assert cell_len(character) == 1
        assert unicodedata.east_asian_width(character) not in "WF"
        assert ord(character) < 0x1F000
        assert unicodedata.category(character) not in ("Mn", "Me", "Cf"), "no variation selectors"


@pytest.mark.parametrize("name", SETS)
def test_every_glyph_that_stands_in_a_cell_is_one_character(name: str) -> None:
    """Levels and corners are several; the sign of a pause stands among words."""
    texts = {field.name: getattr(SETS[name], field.name) for field in fields(SETS[name])}
    several = ("levels", "corners", "pause")
    single = {key: text for key, text in texts.items() if isinstance(text, str) and key not in several}
    assert {key for key, text in single.items() if len(text) != 1} == set()


def test_ascii_is_ascii() -> None:
    assert "".join(characters(ASCII)).isascii()


@pytest.mark.parametrize("roles", [PARTS, ACTIONS], ids=["parts", "actions"])
def test_letters_differ(roles: tuple[str, ...]) -> None:
    assert len({UNICODE.letter(role) for role in roles}) == len(roles)


@pytest.mark.parametrize("name", ["mono", "ascii"])
def test_patterns_of_parts_and_room_differ_where_there_may_be_no_colour(name: str) -> None:
    roles = (*PARTS, "split", "reserved", "others", "free")
    assert len({SETS[name].shades[role] for role in roles}) == len(roles)


@pytest.mark.parametrize("name", SETS)
def test_levels_rise_from_blank(name: str) -> None:
    levels = SETS[name].levels
    assert levels[0] == " "
    assert len(set(levels)) == len(levels) >= 9


@pytest.mark.parametrize(
    ("name", "width", "text"),
    [
        ("unicode", 0, ""), ("unicode", 1, "W"), ("unicode", 4, "W   "),
        ("mono", 4, "W███"), ("ascii", 4, "WWWW"), ("ascii", -1, ""),
    ],
)  # fmt: skip
def test_a_segment_is_the_letter_and_then_the_shade(name: str, width: int, text: str) -> None:
    assert SETS[name].segment("weights", width) == text


@pytest.mark.parametrize(
    ("ascii_only", "hues", "glyphs"),
    [(True, True, ASCII), (True, False, ASCII), (False, True, UNICODE), (False, False, MONO)],
)
def test_the_set_for_a_terminal(ascii_only: bool, hues: bool, glyphs: Glyphs) -> None:
    assert glyphs_for(ascii_only=ascii_only, hues=hues) is glyphs


@pytest.mark.parametrize("name", SETS)
def test_play_and_pause_are_told_from_each_other_and_from_arithmetic(name: str) -> None:
    assert SETS[name].pause != SETS[name].play
    assert not {SETS[name].pause, SETS[name].play} & {"=", "-", "+"}
