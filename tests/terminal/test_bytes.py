"""What the screen writes: bytes per frame, nothing when idle, a key answered at once on a slow line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from terminal.pseudo_terminal import Setup, frames

if TYPE_CHECKING:
    from terminal.conftest import Start

SIZES = [(80, 24, 4096), (200, 50, 8192)]
"""Columns, rows, bytes that one frame may take."""


@pytest.mark.parametrize(("columns", "rows", "budget"), SIZES)
def test_a_frame_of_a_running_picture(start_canvas: Start, columns: int, rows: int, budget: int) -> None:
    terminal = start_canvas(setup=Setup(columns, rows))
    mark = terminal.send(b"p")
    terminal.wait_until(lambda: len(frames(terminal.since(mark))) >= 30, "30 frames")
    assert max(map(len, frames(terminal.since(mark)))) <= budget


@pytest.mark.parametrize(("columns", "rows", "budget"), SIZES)
def test_a_frame_is_the_answer_to_one_edit(start_canvas: Start, columns: int, rows: int, budget: int) -> None:
    terminal = start_canvas(setup=Setup(columns, rows))
    for _ in range(5):
        mark = terminal.send(b"e")
        terminal.wait_until(lambda mark=mark: bool(frames(terminal.since(mark))), "a frame")
        terminal.wait_quiet(0.2)
        (frame,) = frames(terminal.since(mark))
        assert len(frame) <= budget


def test_nothing_is_written_when_nothing_changes(start_canvas: Start) -> None:
    assert start_canvas().bytes_during(3) == 0


def test_painting_equal_rows_writes_nothing(start_canvas: Start) -> None:
    terminal = start_canvas()
    terminal.send(b"i")
    assert terminal.bytes_during(2) == 0
    terminal.send(b"e")
    terminal.wait_until(lambda: len(terminal.output) > 0, "an answer after that")


def test_a_paused_picture_writes_nothing(start_canvas: Start) -> None:
    terminal = start_canvas()
    terminal.send(b"p")
    terminal.wait_until(lambda: len(frames(terminal.output)) > 10, "frames")
    terminal.send(b"p")
    terminal.wait_quiet()
    assert terminal.bytes_during(2) == 0


def test_many_small_updates_show_what_one_repaint_shows(start_canvas: Start) -> None:
    """What was written cell by cell equals what a terminal shows that got everything at once."""
    terminal = start_canvas()
    for _ in range(12):
        terminal.send(b"e")
    terminal.wait_quiet()
    step_by_step = terminal.screen()
    terminal.resize(81, 24)
    terminal.wait_quiet()
    terminal.resize(80, 24)
    terminal.wait_quiet()
    assert step_by_step.visible == terminal.screen().visible
    assert step_by_step.lines[0].startswith("tick 12 ")


def test_a_key_is_answered_at_once_on_a_line_of_100_kb_a_second(start_canvas: Start) -> None:
    """While the picture runs, at most 50 ms worth of bytes stand between a key and its answer."""
    terminal = start_canvas(setup=Setup(200, 50, bytes_per_s=100_000))
    terminal.send(b"p")
    terminal.wait_until(lambda: len(frames(terminal.output)) > 5, "frames")
    mark = terminal.send(b"q")
    terminal.wait_exit()
    before_answer = terminal.since(mark).index(b"\x1b[?1049l")
    assert before_answer <= 100_000 * 0.05 + max(map(len, frames(terminal.output)[-5:]))
