"""What is known about the end of a rank, and what may be concluded from it."""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.process import Life
from scaletui_engine.live.watch import UNKNOWN_ENDING, Ending


class RankState(StrEnum):
    """Whether a rank still runs."""

    RUNNING = "running"
    """Its process lives."""
    EXITED = "exited"
    """Its process has ended, one way or another."""
    LOST = "lost"
    """Its process cannot be looked up, and it has been silent for too long."""


class What(StrEnum):
    """What happened to a rank, beyond its state."""

    NOTHING = ""
    SILENT = "silent"
    """It lives and publishes nothing: it hangs, or the probe has given up."""
    STOPPED = "stopped"
    """Halted by a signal or a debugger."""
    ORPHANED = "orphaned"
    """It lives and its launcher does not."""
    FINISHED = "finished"
    """The interpreter ended in order."""
    LOST_PEER = "lost a peer"
    """A collective failed because another rank had gone; `detail` is the class of the exception."""
    EXCEPTION = "exception"
    """An uncaught exception ended it; `detail` is the class."""
    OUT_OF_MEMORY = "out of memory"
    """The allocator found no memory and the process ended."""
    KILLED = "killed"
    """Ended from outside, and not by its launcher; `detail` is the signal where it is known."""
    ENDED_BY_LAUNCHER = "ended by the launcher"
    """Ended because another rank failed or the launcher was told to stop."""
    KILLED_OR_ENDED = "killed or ended by the launcher"
    """Ended from outside, and nobody looked on."""
    EXIT_CODE = "exit code"
    """Ended by itself without a word to the probe; `detail` is the code."""
    REBOOTED = "machine restarted"
    """Its records are from an earlier boot of this machine."""
    UNREACHABLE = "on another machine"
    """Silent, and its process is not here to be looked up."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """State and cause, with the word or number that goes with the cause."""

    state: RankState
    what: What = What.NOTHING
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known about one rank's life; times are of this boot's monotonic clock."""

    life: Life
    launcher_life: Life
    last_ns: int
    """The last sign of life: its newest record, or the last time its process was seen."""
    now_ns: int
    patience_ns: int
    """Silence longer than this is worth a word."""
    gone_ns: int | None = None
    """When its process was first seen to be gone."""
    ending: Ending = UNKNOWN_ENDING
    launcher_ending: Ending = UNKNOWN_ENDING
    exited: bool = False
    """Whether the probe saw the interpreter end."""
    exception: str = ""
    failed_ns: int | None = None
    """When it reported an exception or an out-of-memory."""
    out_of_memory: bool = False
    same_host: bool = True
    same_boot: bool = True

    @property
    def fell_silent(self) -> bool:
        """Gone without a word: ended from outside, or by os._exit."""
        return self.life is Life.GONE and not self.exited and self.failed_ns is None
