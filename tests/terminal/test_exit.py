"""However the program ends, the terminal is left as it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terminal.conftest import Start


def test_the_terminal_is_in_other_modes_while_the_program_runs(start_canvas: Start) -> None:
    terminal = start_canvas()
    assert {"1049", "25", "2004", "kitty keyboard"} <= terminal.modes()
    assert not terminal.is_restored()


def test_quit(start_canvas: Start) -> None:
    terminal = start_canvas()
    terminal.send(b"q")
    assert terminal.wait_exit() == 0
    assert terminal.is_restored()


def test_an_exception(start_canvas: Start) -> None:
    terminal = start_canvas()
    terminal.send(b"x")
    assert terminal.wait_exit() != 0
    assert terminal.is_restored()
    assert b"planted" in terminal.output
