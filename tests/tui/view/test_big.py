"""Figures three lines tall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.text.glyphs import ASCII, MONO, UNICODE, Glyphs
from scaletui.view.big import big_text, big_width
from scaletui.view.cells import width_of


@pytest.mark.parametrize(
    ("glyphs", "text", "lines"),
    [
        (UNICODE, "40", ("█ █ █▀█ ", "▀▀█ █ █ ", "  ▀ ▀▀▀ ")),
        (UNICODE, "1.5", ("▄█    █▀▀ ", " █    ▀▀█ ", "▀▀▀ ▀ ▀▀▀ ")),
        (ASCII, "25", (" _   _  ", " _| |_  ", "|_   _| ")),
        (ASCII, "", ("", "", "")),
        (UNICODE, "7 GiB", ("▀▀█      ", " ▄▀      ", " ▀    GiB")),
    ],
)
def test_figures(glyphs: Glyphs, text: str, lines: tuple[str, str, str]) -> None:
    assert big_text(text, glyphs) == lines


@pytest.mark.parametrize("glyphs", [UNICODE, MONO, ASCII], ids=["unicode", "mono", "ascii"])
def test_every_figure_has_its_own_shape(glyphs: Glyphs) -> None:
    assert len({big_text(figure, glyphs) for figure in "0123456789+-/%.,: "}) == 18


@given(st.text("0123456789.,+-/:% GiBms", max_size=20), st.sampled_from([UNICODE, MONO, ASCII]))
def test_all_lines_are_as_wide_as_promised(text: str, glyphs: Glyphs) -> None:
    assert {width_of(line) for line in big_text(text, glyphs)} == {big_width(text)}


@given(st.text("0123456789.,+-/:% GiBms", max_size=20))
def test_ascii_figures_are_ascii(text: str) -> None:
    assert "".join(big_text(text, ASCII)).isascii()
