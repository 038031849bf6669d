"""Watches processes end: at once and, where the kernel tells, with the signal that ended them.

A pidfd becomes readable when its process ends, whoever the parent is (pidfd_open(2), Linux 5.3). From Linux
6.15 on PIDFD_GET_INFO gives the exit status of a process that is not our child (include/uapi/linux/pidfd.h).
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.process import Host, Life, life_of

if TYPE_CHECKING:
    from scaletui_engine.live.header import Process

MOST: Final = 256
"""Descriptors held; processes beyond are looked up in the process table at every refresh."""
PATIENCE_NS: Final = 1_500_000_000
"""How long a parent may leave a process uncollected before its ending is given up."""
_INFO: Final = struct.Struct("<QQ11Ii")
_INFO_EXIT: Final = 1 << 3
_GET_INFO: Final = 3 << 30 | _INFO.size << 16 | 0xFF << 8 | 11


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended; both None where the system does not tell."""

    signal: int | None = None
    code: int | None = None


UNKNOWN_ENDING: Final = Ending()


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look at a process."""

    life: Life
    ending: Ending = UNKNOWN_ENDING


class ProcessWatch:
    """Holds a descriptor of every process it was asked about, until that process ends or `close`."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._descriptors: dict[Process, int] = {}
        self._over_ns: dict[Process, int] = {}
        self._ended: dict[Process, Ending] = {}

    def look(self, process: Process, now_ns: int) -> Sighting:
        """Whether the process lives, and how it ended where that is known."""
        if process in self._ended:
            return Sighting(Life.GONE, self._ended[process])
        life = life_of(process, self.host)
        descriptor = self._descriptors.get(process)
        if life is Life.GONE and (descriptor is None or self._is_settled(process, descriptor, now_ns)):
            return Sighting(life, self._ended.setdefault(process, UNKNOWN_ENDING))
        if life in (Life.ALIVE, Life.STOPPED) and descriptor is None:
            self._open(process)
        return Sighting(Life.ALIVE if life is Life.GONE else life)

    def _is_settled(self, process: Process, descriptor: int, now_ns: int) -> bool:
        """Whether it is known how the process ended, or known that nobody will tell.

        The kernel tells it once the parent has collected the process. A process whose main thread alone has
        ended, or that nobody has collected yet, is given a moment.
        """
        if not _is_over(descriptor):
            return False
        is_collected = not os.path.exists(f"{self.host.proc}/{process.pid}")
        ending = _ending(descriptor)
        waited_ns = now_ns - self._over_ns.setdefault(process, now_ns)
        if ending is UNKNOWN_ENDING and not is_collected and waited_ns < PATIENCE_NS:
            return False
        os.close(self._descriptors.pop(process))
        self._ended[process] = ending
        return True

    def descriptors(self) -> tuple[int, ...]:
        """What to poll for: one becomes readable as soon as its process has ended."""
        return tuple(
            descriptor for process, descriptor in self._descriptors.items() if process not in self._over_ns
        )

    def forget(self, keep: frozenset[Process]) -> None:
        """Drop what is known of every process that is not in `keep`."""
        for process in self._descriptors.keys() - keep:
            os.close(self._descriptors.pop(process))
        for known in (self._ended, self._over_ns):
            for process in known.keys() - keep:
                del known[process]

    def close(self) -> None:
        """Give every descriptor back."""
        self.forget(frozenset())

    def _open(self, process: Process) -> None:
        if len(self._descriptors) >= MOST or not hasattr(os, "pidfd_open"):
            return
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            return
        if life_of(process, self.host) is Life.GONE:
            os.close(descriptor)
        else:
            self._descriptors[process] = descriptor


def _is_over(descriptor: int) -> bool:
    """Whether every thread of the process has ended."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(0))


def _ending(descriptor: int) -> Ending:
    """The exit status behind a pidfd, where the kernel gives it to anybody but the parent."""
    buffer = bytearray(_INFO.size)
    struct.pack_into("<Q", buffer, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(descriptor, _GET_INFO, buffer)
    except OSError:
        return UNKNOWN_ENDING
    values = _INFO.unpack(buffer)
    if not values[0] & _INFO_EXIT:
        return UNKNOWN_ENDING
    status = int(values[-1])
    return Ending(signal=status & 0x7F) if status & 0x7F else Ending(code=status >> 8 & 0xFF)
