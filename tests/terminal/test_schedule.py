"""The schedule screen on a real terminal: bytes of every frame while time runs, and none while it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from terminal.pseudo_terminal import Setup, frames

if TYPE_CHECKING:
    from collections.abc import Callable

    from terminal.conftest import Start
    from terminal.pseudo_terminal import PseudoTerminal

SHAPES = {
    "p 4, m 8": ("8", "4", "8", b""),
    "p 16, m 16, zoomed in": ("16", "16", "16", b"mzz"),
}
"""GPUs, pipeline ranks, global batch, and keys before time runs."""


@pytest.fixture
def open_schedule(start_app: Start) -> Callable[..., PseudoTerminal]:
    """The screen with a pipeline of some shape, drawn to the last row."""

    def start(shape: str, setup: Setup) -> PseudoTerminal:
        gpus, ranks, batch, keys = SHAPES[shape]
        options = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", gpus, "--pp", ranks)
        terminal = start_app("budget", *options, "--global-batch", batch, setup=setup)
        terminal.send(b"2")
        terminal.wait_for("bubble B")
        for key in keys:
            terminal.send(bytes([key]))
        terminal.wait_quiet(1.5)
        return terminal

    return start


@pytest.mark.parametrize(
    ("shape", "columns", "rows", "budget"),
    [("p 4, m 8", 80, 24, 4096), ("p 16, m 16, zoomed in", 80, 24, 4096),
     ("p 16, m 16, zoomed in", 200, 50, 8192)],
)  # fmt: skip
def test_a_frame_of_a_running_clock(
    open_schedule: Callable[..., PseudoTerminal], shape: str, columns: int, rows: int, budget: int
) -> None:
    terminal = open_schedule(shape, Setup(columns, rows))
    terminal.send(b"++")
    terminal.wait_quiet(0.5)
    mark = terminal.send(b" ")
    terminal.wait_until(lambda: len(frames(terminal.since(mark))) >= 25, "25 frames")
    assert max(map(len, frames(terminal.since(mark))[2:])) <= budget


@pytest.mark.parametrize("stop", [b" ", b"3"], ids=["paused", "another screen"])
def test_nothing_is_written_once_time_stands(
    open_schedule: Callable[..., PseudoTerminal], stop: bytes
) -> None:
    terminal = open_schedule("p 4, m 8", Setup())
    mark = terminal.send(b" ")
    terminal.wait_until(lambda: len(frames(terminal.since(mark))) >= 5, "frames")
    terminal.send(stop)
    terminal.wait_quiet(1.0)
    assert terminal.bytes_during(2) == 0


def test_reduced_motion_has_no_clock(open_schedule: Callable[..., PseudoTerminal]) -> None:
    terminal = open_schedule("p 4, m 8", Setup(environment={"TEXTUAL_ANIMATIONS": "none"}))
    terminal.send(b" ")
    terminal.wait_for("reduced motion")
    terminal.wait_quiet(1.0)
    assert terminal.bytes_during(2) == 0
    terminal.send(b".")
    terminal.wait_for("▼ 1")
