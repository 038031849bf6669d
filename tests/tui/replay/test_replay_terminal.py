"""The replay on a real terminal: what moves costs little, what stands still nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from looks import Story
from terminal.pseudo_terminal import PseudoTerminal, Setup, frames

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMAND = [sys.executable, "-m", "scaletui", "replay"]


def test_nothing_is_written_while_it_stands(path: Path) -> None:
    with PseudoTerminal([*COMMAND, str(path)]) as terminal:
        terminal.wait_for("REPLAY 0:00 of 0:19")
        terminal.send(b"n")
        terminal.wait_for("REPLAY 0:10 of 0:19")
        terminal.wait_quiet()
        assert terminal.bytes_during(3) == 0


@pytest.mark.parametrize(("columns", "rows", "budget"), [(80, 24, 4096), (200, 50, 8192)])
def test_a_frame_of_a_running_replay(
    make_recording: Callable[[Story, int], Path], columns: int, rows: int, budget: int
) -> None:
    path = make_recording(Story(8, fails_at=30), 40)
    with PseudoTerminal([*COMMAND, str(path)], Setup(columns, rows)) as terminal:
        terminal.wait_for("REPLAY 0:00 of 0:19")
        terminal.wait_quiet(0.2)
        mark = len(terminal.output)
        terminal.send(b"++ ")
        terminal.wait_for("REPLAY 0:19 of 0:19")
        terminal.wait_quiet()
        assert max(map(len, frames(terminal.since(mark)))) <= budget
