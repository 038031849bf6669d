"""Resizing: storms of SIGWINCH, down to nothing and back, end in the right picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terminal.conftest import Start


def test_a_storm_of_resizes_ends_in_the_picture_of_the_last_size(start_canvas: Start) -> None:
    terminal = start_canvas()
    for step in range(60):
        terminal.resize(40 + step * 3 % 120, 10 + step * 7 % 40)
    terminal.resize(90, 30)
    terminal.wait_quiet()
    lines = terminal.screen().lines
    assert lines[0] == "tick 0".ljust(90)
    assert lines[1].startswith("rank 0 W")
    assert lines[1].endswith("0.0")


def test_a_terminal_of_a_few_cells_does_not_end_the_program(start_canvas: Start) -> None:
    terminal = start_canvas()
    for columns, rows in ((2, 2), (1, 1), (40, 10), (80, 24)):
        terminal.resize(columns, rows)
        terminal.wait_quiet()
    terminal.send(b"q")
    assert terminal.wait_exit() == 0
    assert terminal.is_restored()
