"""A terminal of our own: runs a program on a real pty, answers what terminals are asked, and counts bytes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from terminal.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 40.0
"""How long an event may take to happen on a busy machine; nothing is asserted about it."""

ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",  # DA1: a VT220 with colours
    b"\x1b[6n": b"\x1b[1;1R",  # CPR: where the cursor is
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",  # DECRQM: synchronised output is known and off
    b"\x1b[?2048$p": b"\x1b[?2048;0$y",  # DECRQM: in-band resize is unknown, so SIGWINCH it is
}
_QUERY = re.compile(b"|".join(re.escape(query) for query in ANSWERS))
_MODE = re.compile(rb"\x1b\[\?(\d+)([hl])|\x1b\[(>)\d+u|\x1b\[(<)u")
_FRAME = re.compile(rb"\x1b\[\?2026h(.*?)\x1b\[\?2026l", re.DOTALL)
_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(1, termios.TIOCSCTTY, 0)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n"
)


@dataclass(frozen=True)
class Setup:
    """The terminal that a program meets."""

    columns: int = 80
    rows: int = 24
    environment: Mapping[str, str] = field(default_factory=dict)
    bytes_per_s: int | None = None
    """How fast the terminal reads; None for as fast as it can."""
    has_own_input: bool = False
    """Whether input comes from a terminal of its own, so that it can end while the screen is still there."""


def environment(setup: Setup) -> dict[str, str]:
    """What the program finds in its environment: nothing of the test run's own terminal."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    folders = os.pathsep.join(str(ROOT / folder) for folder in ("engine", "tui", "themes"))
    fixed = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "PYTHONPATH": folders}
    return {**kept, **fixed, **setup.environment}


class PseudoTerminal:
    """One program on one pty, from start to exit. A context manager; leaving it ends the program."""

    def __init__(self, command: Sequence[str], setup: Setup | None = None) -> None:
        self.setup = setup or Setup()
        self.output = bytearray()
        """Every byte that the terminal has read."""
        self._answered = 0
        self._resized_at = 0
        self.master, self.slave = pty.openpty()
        self.keyboard, keys = pty.openpty() if self.setup.has_own_input else (self.master, self.slave)
        self._set_size(self.setup.columns, self.setup.rows)
        self.attributes = termios.tcgetattr(self.slave)
        """Line settings before the program."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, *command],
            stdin=keys,
            stdout=self.slave,
            stderr=self.slave,
            env=environment(self.setup),
            cwd=ROOT,
            start_new_session=True,
        )
        if keys != self.slave:
            os.close(keys)

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.end_input()
        self.hang_up()
        os.close(self.slave)

    def send(self, keys: bytes) -> int:
        """Press keys; returns the number of bytes read up to here, a mark for `since`."""
        mark = len(self.output)
        os.write(self.keyboard, keys)
        return mark

    def since(self, mark: int) -> bytes:
        """What was read after a mark."""
        return bytes(self.output[mark:])

    def resize(self, columns: int, rows: int) -> None:
        """Change the size; the kernel sends SIGWINCH."""
        self._resized_at = len(self.output)
        self._set_size(columns, rows)

    def hang_up(self) -> None:
        """Close the terminal's end, as a lost connection does."""
        if self.master >= 0:
            os.close(self.master)
            self.keyboard = -1 if self.keyboard == self.master else self.keyboard
            self.master = -1

    def end_input(self) -> None:
        """Close the input, where it is a terminal of its own."""
        if self.keyboard not in (self.master, -1):
            os.close(self.keyboard)
            self.keyboard = -1

    def wait_until(self, happened: Callable[[], bool], what: str) -> None:
        """Read until something has happened; fails with the tail of the output when it never does."""
        deadline = time.monotonic() + PATIENCE_S
        while not happened():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} never happened; the output ends in {self.output[-400:]!r}")
            self._read(0.05)

    def screen(self) -> Screen:
        """What is shown: everything that was written since the size is what it is."""
        return Screen(self._columns, self._rows).feed(bytes(self.output[self._resized_at :]))

    def wait_for(self, text: str) -> None:
        """Read until a text stands on some line of the screen."""
        self.wait_until(lambda: any(text in line for line in self.screen().lines), f"{text!r} on the screen")

    def wait_quiet(self, quiet_s: float = 0.5) -> None:
        """Read until nothing has come for a while."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(quiet_s):
            assert time.monotonic() < deadline, "the output never ends"

    def wait_exit(self) -> int:
        """Read until the program has ended; its exit status, negative for a signal."""
        self.wait_until(lambda: self.process.poll() is not None, "the exit")
        while self.master >= 0 and self._read(0.05):
            pass
        assert self.process.returncode is not None
        return self.process.returncode

    def bytes_during(self, seconds: float) -> int:
        """How many bytes come in that time."""
        mark, end = len(self.output), time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._read(left)
        return len(self.output) - mark

    def modes(self) -> set[str]:
        """Private modes that are not as a terminal starts: all set but 7 and 25, which start set."""
        state = {"7": True, "25": True}
        for number, switch, push, pop in _MODE.findall(self.output):
            name = number.decode() if number else "kitty keyboard"
            state[name] = switch == b"h" or bool(push and not pop)
        return {name for name, is_set in state.items() if is_set != (name in ("7", "25"))}

    def is_restored(self) -> bool:
        """Whether the terminal is left as it was found."""
        return not self.modes() and termios.tcgetattr(self.slave) == self.attributes

    def _set_size(self, columns: int, rows: int) -> None:
        self._columns, self._rows = columns, rows
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self, timeout_s: float) -> bool:
        """Read once, answer queries; whether anything came."""
        if self.master < 0 or not select.select([self.master], [], [], timeout_s)[0]:
            return False
        try:
            data = os.read(self.master, self._allowance())
        except OSError:
            return False
        self.output += data
        for query in _QUERY.finditer(self.output, self._answered):
            self._answered = query.end()
            os.write(self.keyboard, ANSWERS[query.group()])
        return bool(data)

    def _allowance(self) -> int:
        """Bytes that may be read now; waits until there are some."""
        if self.setup.bytes_per_s is None:
            return 65536
        slice_s = 0.005
        select.select([], [], [], slice_s)
        return max(int(self.setup.bytes_per_s * slice_s), 1)


def frames(output: bytes) -> list[bytes]:
    """The frames in an output, by the marks of synchronised output."""
    return _FRAME.findall(output)
