"""What scaletui's own screens write: each edit, each sample, nothing when idle, keys on a slow line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from terminal.pseudo_terminal import Setup, frames

if TYPE_CHECKING:
    from terminal.conftest import Start
    from terminal.pseudo_terminal import PseudoTerminal

SIZES = [(80, 24, 4096), (200, 50, 8192)]
"""Columns, rows, bytes that one frame may take."""
RIGHT, DOWN = b"\x1b[C", b"\x1b[B"
ESCAPE, CTRL_T = b"\x1b", b"\x14"
SLOW_BYTES_PER_S = 100_000


def answers(terminal: PseudoTerminal, keys: bytes) -> list[int]:
    """The bytes of each frame that follows a key."""
    mark = terminal.send(keys)
    terminal.wait_until(lambda: bool(frames(terminal.since(mark))), f"an answer to {keys!r}")
    terminal.wait_quiet(0.3)
    return [len(frame) for frame in frames(terminal.since(mark))]


@pytest.mark.parametrize(("columns", "rows", "budget"), SIZES)
def test_an_edit_of_the_budget(start_app: Start, columns: int, rows: int, budget: int) -> None:
    terminal = start_app("budget", setup=Setup(columns, rows))
    sizes = [size for key in (DOWN, RIGHT, DOWN, RIGHT, RIGHT, b"u") for size in answers(terminal, key)]
    assert max(sizes) <= budget


@pytest.mark.parametrize(("columns", "rows", "budget"), SIZES)
def test_a_sample_of_a_running_job(
    start_app: Start, fake_job: None, columns: int, rows: int, budget: int
) -> None:
    terminal = start_app("live", setup=Setup(columns, rows), moves=True)
    terminal.wait_for("running")
    terminal.wait_for("GPU-0" if columns > 80 else "8 ranks")
    mark = len(terminal.output)
    terminal.wait_until(lambda: len(frames(terminal.since(mark))) >= 8, "frames")
    assert max(map(len, frames(terminal.since(mark))[1:])) <= budget


@pytest.mark.parametrize(("columns", "rows", "budget"), SIZES)
def test_no_frame_is_larger_whatever_changes(start_app: Start, columns: int, rows: int, budget: int) -> None:
    """Start-up, other screens, help and another theme come in several frames, with keys in between."""
    terminal = start_app("budget", setup=Setup(columns, rows))
    keys = [b"2", b"1", b"3", b"1", b"4", b"1", b"?", ESCAPE, b"/", ESCAPE, CTRL_T, CTRL_T]
    sizes = [size for key in keys for size in answers(terminal, key)]
    assert max(sizes) <= budget
    assert max(map(len, frames(terminal.output))) <= budget


@pytest.mark.parametrize("mode", ["budget", "schedule", "sharding", "live"])
def test_an_idle_screen_writes_nothing(start_app: Start, mode: str) -> None:
    assert start_app(mode).bytes_during(3) == 0


def test_an_edit_on_a_slow_line(start_app: Start) -> None:
    """On a line of 100 kB a second the whole answer to a key is at most 50 ms of bytes."""
    terminal = start_app("budget", setup=Setup(200, 50, bytes_per_s=SLOW_BYTES_PER_S))
    for key in (DOWN, RIGHT, RIGHT):
        assert sum(answers(terminal, key)) <= SLOW_BYTES_PER_S * 0.05


def test_a_key_while_a_job_is_shown_on_a_slow_line(start_app: Start, fake_job: None) -> None:
    """At most 50 ms of bytes, and the frame that is under way, stand between a key and its answer."""
    terminal = start_app("live", setup=Setup(200, 50, bytes_per_s=SLOW_BYTES_PER_S), moves=True)
    terminal.wait_for("GPU-0")
    shown = len(terminal.output)
    terminal.wait_until(lambda: len(frames(terminal.since(shown))) >= 3, "frames of the job alone")
    under_way = max(map(len, frames(terminal.output)[-3:]))
    mark = terminal.send(b"q")
    assert terminal.wait_exit() == 0
    assert terminal.since(mark).index(b"\x1b[?1049l") <= SLOW_BYTES_PER_S * 0.05 + under_way
