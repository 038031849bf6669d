"""Which colours are written: none under NO_COLOR, names where the terminal has sixteen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from terminal.pseudo_terminal import Setup

from scaletui_themes import theme_ids

if TYPE_CHECKING:
    from terminal.conftest import Start

_COLOURED = re.compile(r"3|4.|9.|10.")


@pytest.mark.parametrize("theme", [None, *theme_ids()])
def test_no_color_writes_no_colour(start_canvas: Start, theme: str | None) -> None:
    arguments = [theme] if theme else []
    terminal = start_canvas(*arguments, setup=Setup(environment={"NO_COLOR": "1"}))
    terminal.send(b"e")
    terminal.wait_for("tick 1")
    screen = terminal.screen()
    assert [code for code in screen.styles if _COLOURED.match(code)] == []
    assert "W██" in screen.lines[1], "parts are told apart by patterns"


@pytest.mark.parametrize("theme", [None, "ansi", "mono"])
def test_a_terminal_of_sixteen_colours_gets_names(start_canvas: Start, theme: str | None) -> None:
    environment = {"TERM": "linux", "COLORTERM": ""}
    terminal = start_canvas(*([theme] if theme else []), setup=Setup(environment=environment))
    assert b"38;2;" not in terminal.output
    assert b"38;5;" not in terminal.output


def test_a_terminal_of_many_colours_gets_the_palette(start_canvas: Start) -> None:
    assert b"106;169;255" in start_canvas("dark").output
