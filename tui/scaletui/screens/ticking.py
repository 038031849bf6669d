"""The clock of a screen that plays something: a timer that exists while time runs."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final, cast

from textual.screen import Screen

if TYPE_CHECKING:
    from textual.timer import Timer

    from scaletui.app import ScaletuiApp

LONGEST_S: Final = 0.5
"""The most that one tick takes time on, however late it comes."""


class TickingScreen(Screen[None]):
    """Told `passed` of the seconds since the last time, as often as frames were asked for.

    Behind the screen that it is mixed into: Textual finds styles along the first base alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.timer: Timer | None = None
        self._ticked_s = 0.0

    def passed(self, seconds: float) -> None:
        """Time has passed. Subclasses say what that changes."""
        raise AssertionError(seconds)

    def _run_clock(self, runs: bool) -> None:
        if self.timer is not None:
            self.timer.stop()
            self.timer = None
        if runs:
            self._ticked_s = perf_counter()
            self.timer = self.set_interval(1 / cast("ScaletuiApp", self.app).options.fps, self._tick)

    def _tick(self) -> None:
        now = perf_counter()
        passed_s, self._ticked_s = min(now - self._ticked_s, LONGEST_S), now
        self.passed(passed_s)
