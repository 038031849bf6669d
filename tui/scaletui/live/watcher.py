"""The loop that asks a source again and again, in a thread of its own."""

from __future__ import annotations

import os
import select
import threading
import time
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store
from scaletui_probe.directory import ring_directory

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.snapshot import Snapshot

INTERVAL_S: Final = 0.5
INTERVAL_OVER_SSH_S: Final = 1.0
SLICE_S: Final = 0.2
"""A worker that is asked to end looks at least this often whether it was."""
SHORTEST_S: Final = 0.05
"""Between two polls, however much happens."""


def now() -> Moment:
    """Both clocks, read together."""
    return Moment(time.monotonic_ns(), time.time_ns())


class Watcher:
    """Polls the rings of a folder and hands every snapshot on; may be started and stopped again and again."""

    def __init__(self, folder: str | None, interval_s: float = INTERVAL_S) -> None:
        self.source = RingSource(ring_directory(folder, os.environ))
        self._store = Store(self.source.host)
        self._interval_s = interval_s
        self._lock = threading.Lock()

    def look(self) -> Snapshot:
        """One snapshot, now."""
        with self._lock:
            moment = now()
            return self._store.take(self.source.poll(moment), moment)

    def run(self, hand_on: Callable[[Snapshot], None], is_over: Callable[[], bool]) -> None:
        """Look at once and then at every interval, earlier when a process has ended, until `is_over`."""
        while not is_over():
            start = time.monotonic()
            snapshot = self.look()
            if not is_over():
                hand_on(snapshot)
            self._wait(start, is_over)

    def close(self) -> None:
        """Give back what the source holds."""
        with self._lock:
            self.source.close()

    def _wait(self, start: float, is_over: Callable[[], bool]) -> None:
        poller = select.poll()
        for descriptor in self.source.descriptors():
            poller.register(descriptor, select.POLLIN)
        while not is_over():
            left_s = start + self._interval_s - time.monotonic()
            if left_s <= 0:
                return
            if poller.poll(min(left_s, SLICE_S) * 1000):
                threading.Event().wait(min(left_s, SHORTEST_S))
                return
