"""Puts together what the sources say, as often as it is new; none of them can make it wait."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scaletui.live.clock import now
from scaletui.live.patience import Limited
from scaletui.live.poller import SHORTEST_S, Look, Polled, Poller
from scaletui_engine.live.driver.nvml_source import NvmlSource
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Snapshot
from scaletui_engine.live.store import PLAN_BYTES, Store
from scaletui_probe.directory import ring_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaletui_engine.live.driver.reading import DriverView
    from scaletui_engine.live.snapshot import Moment
    from scaletui_engine.live.source import LiveSource

INTERVAL_S: Final = 0.5
INTERVAL_OVER_SSH_S: Final = 1.0
SHORTEST_INTERVAL_S: Final = 0.1
"""Between two looks; asked more often than that, drivers cost the job something."""
DRIVER_INTERVAL_S: Final = 1.0
"""The least between two questions to a driver: its own load figures cover up to a second."""
DEADLINE_S: Final = 2.0
"""An answer that takes longer is told as one that is late."""
ONCE_S: Final = 5.0
"""How long a single look waits for the sources that are late."""
SLICE_S: Final = 0.2
"""A worker that is asked to end looks at least this often whether it was."""


class Watcher:
    """Polls rings and driver and hands every snapshot on; may be started and stopped again and again."""

    def __init__(
        self, folder: str | None, interval_s: float = INTERVAL_S, driver: LiveSource | None = None
    ) -> None:
        self._interval_s = max(interval_s, SHORTEST_INTERVAL_S)
        self._news = threading.Condition()
        self._is_due = False
        self._lookers = 0
        """Looks and runs that are under way: one may begin before another has ended."""
        self._rings = self._rings_poller(RingSource(ring_directory(folder, os.environ)))
        self._driver = self._driver_poller(driver or NvmlSource(patience=Limited()))
        self._pollers: tuple[Poller[Any], ...] = (self._rings, self._driver)

    def look(self) -> Snapshot:
        """One snapshot, now: of every source what it says within ONCE_S."""
        self._store.plan_bytes = None
        deadline = time.monotonic() + ONCE_S
        with self._looking(), self._news:
            while not all(poller.has_answered for poller in self._pollers):
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    break
                self._news.wait(left_s)
        return self._snapshot()

    def run(self, hand_on: Callable[[Snapshot], None], is_over: Callable[[], bool]) -> None:
        """Hand a snapshot on whenever the rings were read, and when a source has something to say."""
        with self._looking():
            while not is_over():
                if self._await_news(is_over):
                    hand_on(self._snapshot())
                    threading.Event().wait(SHORTEST_S)

    def close(self) -> None:
        """Stop asking. A source that hangs is left to the end of the process."""
        for poller in self._pollers:
            poller.close()
        with self._news:
            self._news.notify_all()

    def _snapshot(self) -> Snapshot:
        """What every source said last, at this moment."""
        moment = now()
        seen = self._rings.value or Snapshot(moment, (), (), ())
        sources = tuple(poller.status(moment) for poller in self._pollers)
        return replace(seen, moment=moment, drivers=self._driver.value or (), sources=sources)

    def _await_news(self, is_over: Callable[[], bool]) -> bool:
        """Whether there are any before it is over; ages are news where the rings stay away."""
        latest = time.monotonic() + self._interval_s + DEADLINE_S
        with self._news:
            while not self._is_due and time.monotonic() < latest:
                if is_over():
                    return False
                self._news.wait(SLICE_S)
            self._is_due = False
        return not is_over()

    def _rings_poller(self, source: RingSource) -> Poller[Snapshot]:
        store = self._store = Store(source.host, PLAN_BYTES)

        def look(moment: Moment) -> Look[Snapshot]:
            return Look(store.take(source.poll(moment), moment))

        polled = Polled(source.name, look, source.descriptors, source.close, self._interval_s, DEADLINE_S)
        return Poller(polled, lambda is_urgent: self._tell())

    def _driver_poller(self, source: LiveSource) -> Poller[tuple[DriverView, ...]]:
        def look(moment: Moment) -> Look[tuple[DriverView, ...]]:
            update = source.poll(moment)
            return Look(update.drivers, update.fault, update.more, update.over)

        interval_s = max(self._interval_s, DRIVER_INTERVAL_S)
        polled = Polled(source.name, look, source.descriptors, source.close, interval_s, DEADLINE_S)
        return Poller(polled, self._tell_of_driver)

    def _tell_of_driver(self, is_urgent: bool) -> None:
        """Its figures go with those of the rings, which come as often: one frame for both."""
        if is_urgent and self._rings.has_answered:
            self._tell()

    def _tell(self) -> None:
        with self._news:
            self._is_due = True
            self._news.notify_all()

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Keep the sources going, until the last one who looks has ended."""
        with self._news:
            self._lookers += 1
            for poller in self._pollers:
                poller.resume()
        try:
            yield
        finally:
            with self._news:
                self._lookers -= 1
                for poller in self._pollers if self._lookers == 0 else ():
                    poller.pause()
