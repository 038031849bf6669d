"""The rings of one folder, and the processes that write them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.discovery import search
from scaletui_engine.live.fault import RingFault
from scaletui_engine.live.process import Host, Life, this_host
from scaletui_engine.live.ring import RingReader
from scaletui_engine.live.source import RingUpdate, SourceUpdate
from scaletui_engine.live.watch import ProcessWatch, Sighting

if TYPE_CHECKING:
    from scaletui_engine.live.header import Identity, Process
    from scaletui_engine.live.snapshot import Moment

UNSEEN: Final = Sighting(Life.UNKNOWN)


class RingSource:
    """Reads every ring of a folder at each poll."""

    name = "rings"

    def __init__(self, folder: str, host: Host | None = None, owner: int | None = None) -> None:
        self.folder = folder
        self._host = host or this_host()
        self._owner = os.geteuid() if owner is None else owner
        self._watch = ProcessWatch(self._host)
        self._readers: dict[str, RingReader] = {}
        self._looked: dict[Process, Sighting] = {}
        self._now_ns = 0

    @property
    def host(self) -> Host:
        """The machine whose processes it looks up."""
        return self._host

    def poll(self, moment: Moment) -> SourceUpdate:
        """Everything new in the folder; a file that cannot be read is a fault and hides no other."""
        self._looked = {}
        self._now_ns = moment.monotonic_ns
        place, paths = search(self.folder)
        for path in self._readers.keys() - set(paths):
            del self._readers[path]
        outcomes = [self._poll(path) for path in paths]
        self._watch.forget(frozenset(self._looked))
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
        """The process is looked up before its ring is read: once it has ended the ring is complete."""
        reader = self._readers.setdefault(path, RingReader(path, self._owner))
        if reader.identity is not None:
            self._look(reader.identity, reader.identity.process)
        outcome = reader.read()
        if isinstance(outcome, RingFault):
            return outcome
        identity = outcome.header.identity
        return RingUpdate(
            outcome, self._look(identity, identity.process), self._look(identity, identity.launcher)
        )

    def _look(self, identity: Identity, process: Process) -> Sighting:
        if (identity.boot_id, identity.host) != (self._host.boot_id, self._host.name):
            return UNSEEN
        if process not in self._looked:
            self._looked[process] = self._watch.look(process, self._now_ns)
        return self._looked[process]
