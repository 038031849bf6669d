"""The rings of one folder, and the processes that write them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.discovery import search
from scaletui_engine.live.fault import RingFault
from scaletui_engine.live.process import Host, Life, this_host
from scaletui_engine.live.ring import RingReader, RingReading
from scaletui_engine.live.source import RingUpdate, SourceUpdate
from scaletui_engine.live.watch import ProcessWatch, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.header import Process, RingHeader
    from scaletui_engine.live.snapshot import Moment

UNSEEN: Final = Sighting(Life.UNKNOWN)
FRESH_NS: Final = 2_000_000_000
"""A record as young as this is a sign of life by itself."""


class RingSource:
    """Reads every ring of a folder at each poll."""

    name = "rings"

    def __init__(self, folder: str, host: Host | None = None, owner: int | None = None) -> None:
        self.folder = folder
        self._host = host or this_host()
        self._owner = os.geteuid() if owner is None else owner
        self._watch = ProcessWatch(self._host)
        self._followed: dict[str, _Followed] = {}
        self._looked: dict[tuple[int, int], Sighting] = {}
        self._now_ns = 0
        self._has_changed = False
        """Whether some process may be watched that stands behind no ring any more."""

    @property
    def host(self) -> Host:
        """The machine whose processes it looks up."""
        return self._host

    def poll(self, moment: Moment) -> SourceUpdate:
        """Everything new in the folder; a file that cannot be read is a fault and hides no other."""
        self._looked = {}
        self._now_ns = moment.monotonic_ns
        self._watch.begin()
        place, paths = search(self.folder)
        for path in self._followed.keys() - set(paths):
            del self._followed[path]
            self._has_changed = True
        outcomes = [self._poll(path) for path in paths]
        if self._has_changed:
            self._watch.forget(frozenset(self._processes()))
            self._has_changed = False
        updates = tuple(outcome for outcome in outcomes if isinstance(outcome, RingUpdate))
        faults = tuple(outcome for outcome in outcomes if isinstance(outcome, RingFault))
        return SourceUpdate(updates, faults, (place,))

    def descriptors(self) -> tuple[int, ...]:
        """A descriptor of each process that is watched: readable when it has ended."""
        return self._watch.descriptors()

    def close(self) -> None:
        """Stop watching."""
        self._watch.close()

    def _poll(self, path: str) -> RingUpdate | RingFault:
        """One ring and its processes.

        A process that has just written lives; looking a thousand of them up costs more than reading what they
        wrote. Any other is looked up, and its ring read once more where it has just ended: only then is the
        ring complete.
        """
        followed = self._followed.get(path)
        if followed is None:
            followed = self._followed[path] = _Followed(path, self._owner, self._host)
        outcome = followed.read()
        if followed.has_changed:
            self._has_changed, followed.has_changed = True, False
        if isinstance(outcome, RingFault):
            if followed.process is not None:
                self._look(followed.process)
            return outcome
        before, seen = followed.sighting, UNSEEN
        if followed.process is not None:
            is_alive = before.life is Life.ALIVE and self._is_fresh(outcome)
            seen = before if is_alive else self._look(followed.process)
        if seen.life is Life.GONE and before.life is not Life.GONE:
            outcome = _joined(outcome, followed.read())
        followed.sighting = seen
        return RingUpdate(outcome, seen, self._look(followed.launcher) if followed.launcher else UNSEEN)

    def _is_fresh(self, reading: RingReading) -> bool:
        """Whether a sample or a step is so young that its process must live; an event may be its last."""
        newest = reading.samples or reading.steps
        return (
            bool(newest)
            and not reading.events
            and -FRESH_NS < self._now_ns - newest[-1].monotonic_ns < FRESH_NS
        )

    def _look(self, process: Process) -> Sighting:
        """One look at a process a poll, however many rings it stands behind."""
        key = process.pid, process.start_ticks
        seen = self._looked.get(key)
        if seen is None:
            seen = self._looked[key] = self._watch.look(process, self._now_ns)
        return seen

    def _processes(self) -> Iterator[Process]:
        for followed in self._followed.values():
            yield from filter(None, (followed.process, followed.launcher))


class _Followed:
    """One ring, and its processes where this machine can look them up."""

    __slots__ = ("_header", "_host", "_reader", "has_changed", "launcher", "process", "sighting")

    def __init__(self, path: str, owner: int, host: Host) -> None:
        self._reader = RingReader(path, owner)
        self._host = host
        self._header: RingHeader | None = None
        self.process: Process | None = None
        self.launcher: Process | None = None
        self.sighting = UNSEEN
        """What the last poll saw of the process."""
        self.has_changed = False
        """Whether a read brought other processes, and nobody has asked yet."""

    def read(self) -> RingReading | RingFault:
        """What is new in the ring."""
        outcome = self._reader.read()
        if isinstance(outcome, RingReading) and outcome.header is not self._header:
            self._header = outcome.header
            identity = outcome.header.identity
            is_here = (identity.boot_id, identity.host) == (self._host.boot_id, self._host.name)
            found = (identity.process, identity.launcher) if is_here else (None, None)
            if found[0] != self.process:
                self.sighting = UNSEEN
            self.has_changed = self.has_changed or found != (self.process, self.launcher)
            self.process, self.launcher = found
        return outcome


def _joined(first: RingReading, second: RingReading | RingFault) -> RingReading:
    """Both readings of a ring as one."""
    if isinstance(second, RingFault):
        return first
    return second._replace(
        samples=first.samples + second.samples,
        steps=first.steps + second.steps,
        events=first.events + second.events,
    )
