"""What the command line asks of the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scaletui_engine.scenario import Scenario

MODES: Final = ("budget", "schedule", "sharding", "live")
"""The modes of the screen, in the order of their keys 1 to 4."""


@dataclass(frozen=True, slots=True)
class Starting:
    """A job that this command has started and that publishes nothing yet."""

    command: str
    since_ns: int
    """Monotonic."""
    runs: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How the screen opens; `scaletui.app.run` takes one."""

    mode: str = "budget"
    scenario: Scenario | None = None
    """None opens on the app's own first scenario."""
    theme: str | None = None
    """None lets the app choose by what the terminal can do."""
    ascii: bool = False
    big: bool = False
    mouse: bool = True
    fps: int = 10
    motion: bool = True
    """False where a person asked for none: time then moves by keys alone."""
    ring_dir: str | None = None
    """Where live mode looks for jobs; None takes `$SCALETUI_DIR`, else the default folder."""
    interval_s: float | None = None
    """Seconds between two looks of live mode; None for what suits the line."""
    notice: str = ""
    """What the screen says first."""
    replay: str | None = None
    """A recording that live mode plays in place of looking for jobs."""
    starting: Starting | None = None
    """A job that live mode waits for."""
    process: tuple[int, int] | None = None
    """The process whose rank live mode looks at first: its number, and its start in ticks."""
    stopped: Callable[[], str] | None = None
    """Why what goes on behind the screen has stopped; empty while it goes on."""


def default_theme(environ: Mapping[str, str]) -> str:
    """The theme where nobody chose one: mono under NO_COLOR, names where the terminal has 16 colours."""
    if "NO_COLOR" in environ:
        return "mono"
    term = environ.get("TERM", "")
    rich = bool(environ.get("COLORTERM")) or "256color" in term or "direct" in term
    return "dark" if rich else "ansi"
