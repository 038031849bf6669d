"""Which rings belong to a process: its own, those of the ranks that it launched, or that of the rank whose
worker it is. The process table tells; nothing is asked of any process."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.snapshot import JobView, Snapshot

PROC: Final = "/proc"
_NAME: Final = re.compile(r"r(\d+)\.p(\d+)\.(\d+)\.ring")
_PARENT, _START = 1, 19
"""Places in /proc/PID/stat behind the name of the program (fields 4 and 22 of proc_pid_stat(5))."""


@dataclass(frozen=True, slots=True)
class ProcessRing:
    """The ring of a rank whose process is alive."""

    rank: int
    pid: int
    start_ticks: int
    path: Path


def rings_of(pid: int, folder: Path, proc: str = PROC) -> tuple[ProcessRing, ...]:
    """By rank: the process's own ring, else those of the processes below it, else the nearest above it."""
    alive = sorted(_living(folder, proc), key=lambda ring: (ring.rank, ring.pid))
    own = [ring for ring in alive if ring.pid == pid]
    below = [ring for ring in alive if pid in ancestors(ring.pid, proc)] if not own else []
    above = [ring for parent in ancestors(pid, proc) for ring in alive if ring.pid == parent]
    return tuple(own or below or above[:1])


def only(snapshot: Snapshot, rings: tuple[ProcessRing, ...]) -> Snapshot:
    """The look with the jobs of these processes alone."""
    sought = {(ring.pid, ring.start_ticks) for ring in rings}
    return replace(snapshot, jobs=tuple(job for job in snapshot.jobs if sought & _processes(job)))


def _processes(job: JobView) -> set[tuple[int, int]]:
    processes = [rank.identity.process for rank in job.ranks]
    return {(process.pid, process.start_ticks) for process in processes}


def _living(folder: Path, proc: str) -> Iterator[ProcessRing]:
    """Rings whose name tells of a process that is there and began at that time."""
    for path in folder.glob("*.ring"):
        name = _NAME.fullmatch(path.name)
        if name is not None:
            rank, pid, ticks = map(int, name.groups())
            if _stat(pid, proc)[_START : _START + 1] == [str(ticks)]:
                yield ProcessRing(rank, pid, ticks, path)


def ancestors(pid: int, proc: str = PROC) -> tuple[int, ...]:
    """Parent, grandparent and so on up to the first process."""
    found: list[int] = []
    fields = _stat(pid, proc)
    while len(fields) > _PARENT and (parent := int(fields[_PARENT])) > 0 and parent not in found:
        found.append(parent)
        fields = _stat(parent, proc)
    return tuple(found)


def children(pid: int, proc: str = PROC) -> tuple[int, ...]:
    """The processes that a process has started and that are there, oldest number first."""
    numbers = sorted(int(entry.name) for entry in Path(proc).iterdir() if entry.name.isdigit())
    return tuple(number for number in numbers if ancestors(number, proc)[:1] == (pid,))


def _stat(pid: int, proc: str) -> list[str]:
    """The fields behind the name of the program, which may hold spaces; none of a process that is gone."""
    try:
        return Path(f"{proc}/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
