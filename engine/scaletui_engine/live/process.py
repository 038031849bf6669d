"""Whether a process is still the one that wrote a ring: the same pid and the same start time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.compat import StrEnum

if TYPE_CHECKING:
    from scaletui_engine.live.header import Process


class Life(StrEnum):
    """What the system says of a process."""

    ALIVE = "alive"
    STOPPED = "stopped"
    """It exists and has been halted by a signal or a debugger."""
    GONE = "gone"
    """Ended; a zombie that its parent has not collected is gone too."""
    UNKNOWN = "unknown"
    """On another machine, from another boot, or unreadable: only the age of its records can tell."""


@dataclass(frozen=True, slots=True)
class Host:
    """The machine a viewer runs on."""

    boot_id: str
    name: str
    proc: str = "/proc"
    """Where the process table is mounted."""


def this_host(proc: str = "/proc") -> Host:
    """The machine this runs on; an empty boot id where the system does not tell."""
    try:
        with open(f"{proc}/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot_id = file.read(64).strip()
    except OSError:
        boot_id = ""
    return Host(boot_id, os.uname().nodename, proc)


def life_of(process: Process, host: Host) -> Life:
    """ALIVE, STOPPED or GONE by the process table; UNKNOWN where it cannot be read."""
    if process.pid <= 0 or process.start_ticks == 0:
        return Life.UNKNOWN
    try:
        state, start = _state_and_start(_read(f"{host.proc}/{process.pid}/stat"))
    except (FileNotFoundError, ProcessLookupError):
        return Life.GONE if os.path.isdir(f"{host.proc}/self") else Life.UNKNOWN
    except (OSError, ValueError, IndexError):
        return Life.UNKNOWN
    if start != process.start_ticks or state in ("Z", "X", "x"):
        return Life.GONE
    return Life.STOPPED if state in ("T", "t") else Life.ALIVE


def _read(path: str) -> bytes:
    """The first bytes of a file of the process table, without the buffers of `open`: it is asked a lot."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


def _state_and_start(stat: bytes) -> tuple[str, int]:
    """Fields 3 and 22 of proc_pid_stat(5); field 2, the command, may hold spaces and brackets."""
    fields = stat[stat.rindex(b")") + 2 :].split()
    return fields[0].decode("ascii"), int(fields[19])
