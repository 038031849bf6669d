"""Leaves in order when told to, when the terminal goes away, or when the input ends; else by force.

Textual restores the terminal where its loop can still run. It cannot where the loop is stuck on a terminal
that nobody reads, and it spins for ever on an input that has ended. So signals ask the app to leave, a thread
that costs nothing waits for the hang-up, and after a grace period the terminal is restored from here.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
from typing import TYPE_CHECKING, Any, Final

from scaletui.messages import LeaveAsked

if TYPE_CHECKING:
    from types import FrameType

    from textual.app import App

GRACE_S: Final = 2.0
"""What the app gets to leave by itself."""
SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
RESTORE: Final = (
    b"\x1b[<u\x1b[?2004l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2048l"
    b"\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Keyboard, paste, mouse, resize reports, wrap, screen, cursor and focus, as they were."""


class Hangup:
    """A context around `App.run`."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._input = sys.__stdin__.fileno() if sys.__stdin__ else 0
        self._output = sys.__stdout__.fileno() if sys.__stdout__ else 1
        self._saved: dict[int, Any] = {}
        self._modes: list[Any] = []
        self._left = threading.Event()
        self._asked = False

    def __enter__(self) -> Hangup:
        self._modes = termios.tcgetattr(self._input)
        for number in SIGNALS:
            self._saved[number] = signal.signal(number, self._told)
        threading.Thread(target=self._watch_input, name="hangup", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        for number, handler in self._saved.items():
            signal.signal(number, handler)

    def leave(self, code: int) -> None:
        """Ask the app to leave; by force the second time, or when the grace period is over."""
        if self._asked:
            self._force(code)
        self._asked = True
        threading.Thread(target=self._wait, args=(code,), name="grace", daemon=True).start()

    def _told(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.leave(128 + number)

    def _watch_input(self) -> None:
        """A hang-up is reported without asking for input, so this thread sleeps until then."""
        poller = select.poll()
        poller.register(self._input, 0)
        poller.poll()
        if not self._left.is_set():
            self.leave(128 + signal.SIGHUP)

    def _wait(self, code: int) -> None:
        self._app.post_message(LeaveAsked(code))
        if not self._left.wait(GRACE_S):
            self._force(code)

    def _force(self, code: int) -> None:
        try:
            os.set_blocking(self._output, False)
            os.write(self._output, RESTORE)
            os.set_blocking(self._output, True)
            termios.tcsetattr(self._input, termios.TCSANOW, self._modes)
        except (OSError, termios.error):
            pass
        os._exit(code)
