"""A program that is stopped and comes back paints its screen again."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terminal.conftest import Start


def test_stop_and_continue(start_canvas: Start) -> None:
    terminal = start_canvas()
    shown = terminal.screen().visible
    terminal.process.send_signal(signal.SIGTSTP)
    terminal.wait_until(lambda: not terminal.modes(), "the terminal given back")
    terminal.wait_until(
        lambda: os.waitpid(terminal.process.pid, os.WNOHANG | os.WUNTRACED)[0] > 0, "the stop"
    )
    terminal.process.send_signal(signal.SIGCONT)
    terminal.wait_until(lambda: "1049" in terminal.modes(), "the terminal taken again")
    terminal.wait_for("tick 0")
    terminal.wait_quiet()
    assert terminal.screen().visible == shown
