"""Watches processes end: at once and, where the kernel tells, with the signal that ended them.

A pidfd becomes readable when its process ends, whoever the parent is (pidfd_open(2), Linux 5.3). From Linux
6.15 on PIDFD_GET_INFO gives the exit status of a process that is not our child (include/uapi/linux/pidfd.h).
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.process import Host, Life, life_of

if TYPE_CHECKING:
    from scaletui_engine.live.header import Process

MOST: Final = 2048
"""Descriptors held at most, and never more than half of those this process may have; processes beyond are
looked up in the process table at every refresh."""
LOOKED_UP: Final = 128
"""Processes that the table is asked about in a refresh although their descriptors say that they have not
ended: whether one was halted shows at once among so many, and by turns among more."""
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


_ALIVE: Final = Sighting(Life.ALIVE)


@dataclass(slots=True)
class _Held:
    """A process that had not ended when it was looked at last."""

    descriptor: int
    number: int
    """Spreads the turns."""
    sighting: Sighting = _ALIVE


class ProcessWatch:
    """Holds a descriptor of every process it was asked about, until that process ends or `close`."""

    def __init__(self, host: Host, most: int | None = None) -> None:
        self.host = host
        self._most = _most() if most is None else most
        self._held: dict[Process, _Held] = {}
        self._over_ns: dict[Process, int] = {}
        self._ended: dict[Process, Ending] = {}
        self._poller = select.poll()
        self._over: frozenset[int] = frozenset()
        """Descriptors of processes that had ended when the refresh began."""
        self._refresh = 0
        self._opened = 0

    def begin(self) -> None:
        """A refresh begins: ask at once which of all processes have ended."""
        self._refresh += 1
        self._over = frozenset([descriptor for descriptor, _ in self._poller.poll(0)])

    def look(self, process: Process, now_ns: int) -> Sighting:
        """Whether the process lives, and how it ended where that is known."""
        held = self._held.get(process)
        if held is not None and held.descriptor not in self._over and not self._is_turn(held):
            return held.sighting
        if process in self._ended:
            return Sighting(Life.GONE, self._ended[process])
        life = life_of(process, self.host)
        if life is Life.GONE and (held is None or self._is_settled(process, held.descriptor, now_ns)):
            return Sighting(life, self._ended.setdefault(process, UNKNOWN_ENDING))
        if life in (Life.ALIVE, Life.STOPPED) and held is None:
            held = self._open(process)
        seen = _ALIVE if life is Life.GONE else Sighting(life)
        if held is not None:
            held.sighting = seen
        return seen

    def _is_turn(self, held: _Held) -> bool:
        """Whether the table is asked about a process in this refresh."""
        turns = -(-len(self._held) // LOOKED_UP)
        return (self._refresh + held.number) % turns == 0

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
        self._close(process)
        self._ended[process] = ending
        return True

    def descriptors(self) -> tuple[int, ...]:
        """What to poll for: one becomes readable as soon as its process has ended."""
        return tuple(
            [held.descriptor for process, held in self._held.items() if process not in self._over_ns]
        )

    def forget(self, keep: frozenset[Process]) -> None:
        """Drop what is known of every process that is not in `keep`."""
        for process in self._held.keys() - keep:
            self._close(process)
        for known in (self._ended, self._over_ns):
            for process in known.keys() - keep:
                del known[process]

    def close(self) -> None:
        """Give every descriptor back."""
        self.forget(frozenset())

    def _open(self, process: Process) -> _Held | None:
        """Hold a process that lives; None where that cannot be had."""
        if len(self._held) >= self._most or not hasattr(os, "pidfd_open"):
            return None
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            return None
        if life_of(process, self.host) is Life.GONE:
            os.close(descriptor)
            return None
        self._poller.register(descriptor, select.POLLIN)
        self._opened += 1
        held = self._held[process] = _Held(descriptor, self._opened)
        return held

    def _close(self, process: Process) -> None:
        descriptor = self._held.pop(process).descriptor
        self._poller.unregister(descriptor)
        os.close(descriptor)


def _most() -> int:
    """How many descriptors may be held, by what this process may have open."""
    return min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2, MOST)


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
