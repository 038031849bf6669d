"""scaletui in terminals of every size, resized in storms, without colours, in ASCII."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from terminal.pseudo_terminal import Setup

if TYPE_CHECKING:
    from terminal.conftest import Start

_COLOURED = re.compile(r"[34].|9.|10.")


def test_a_storm_of_resizes_ends_in_the_picture_of_the_last_size(start_app: Start) -> None:
    terminal = start_app("budget")
    shown = terminal.screen().visible
    for step in range(60):
        terminal.resize(40 + step * 3 % 170, 10 + step * 7 % 50)
    terminal.resize(80, 24)
    terminal.wait_for("quit")
    terminal.wait_quiet()
    assert terminal.screen().visible == shown


def test_a_small_terminal_says_what_is_needed(start_app: Start) -> None:
    terminal = start_app("budget")
    terminal.resize(40, 10)
    terminal.wait_for("60 x 18")
    terminal.resize(80, 24)
    terminal.wait_for("quit")
    terminal.send(b"q")
    assert terminal.wait_exit() == 0


def test_nothing_of_the_larger_picture_stays_at_the_edge(start_app: Start) -> None:
    terminal = start_app("budget")
    terminal.resize(60, 18)
    terminal.wait_for("gpus a n")
    terminal.wait_quiet()
    terminal.resize(59, 17)
    terminal.wait_for("has 59 x 17")
    terminal.wait_quiet()
    shown = [line.strip() for line in terminal.screen().lines]
    assert [line for line in shown if line] == ["needs 60 x 18, has 59 x 17"]


@pytest.mark.parametrize("theme", ["dark", "ansi", "mono"])
def test_no_color(start_app: Start, theme: str) -> None:
    terminal = start_app("--theme", theme, "budget", setup=Setup(environment={"NO_COLOR": "1"}))
    terminal.send(b"\x1b[B")
    terminal.wait_quiet()
    assert [code for code in terminal.screen().styles if _COLOURED.fullmatch(code.split(";")[0])] == []


def test_ascii(start_app: Start) -> None:
    terminal = start_app("--ascii", "budget")
    assert "".join(terminal.screen().lines).isascii()
