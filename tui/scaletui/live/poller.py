"""Asks one source again and again in a daemon thread of its own, so that a slow or broken one delays nobody.

Whoever reads never waits: what the source said last is there with its age, and what it owes is said. A thread
that hangs in a driver for ever ends with the process.
"""

from __future__ import annotations

import os
import select
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from scaletui.live.clock import now
from scaletui_engine.live.driver.reading import Lack, NotAvailable, SourceStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.snapshot import Moment

T = TypeVar("T")
SHORTEST_S: Final = 0.05
"""Between two polls, however much happens."""
BREAKDOWNS: Final = (
    ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What breaks a source, and nothing but that source."""


@dataclass(frozen=True, slots=True)
class Look(Generic[T]):
    """What one poll of a source brought."""

    value: T
    fault: NotAvailable | None = None
    more: bool = False
    """Whether to ask again at once."""
    over: bool = False
    """Whether to ask never again."""


@dataclass(frozen=True, slots=True)
class Polled(Generic[T]):
    """A source as a poller sees it."""

    name: str
    look: Callable[[Moment], Look[T]]
    descriptors: Callable[[], tuple[int, ...]]
    close: Callable[[], None]
    interval_s: float
    deadline_s: float
    """A poll that takes longer is told as one that has not been answered."""


class Poller(Generic[T]):
    """One source and its thread, which is started by `resume` and rests after `pause`."""

    def __init__(self, polled: Polled[T], tell: Callable[[bool], None]) -> None:
        self.polled = polled
        self._tell = tell
        """Called in the poller's thread after every poll; True for a first answer and for a new fault."""
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        """Held for a moment at the end alone, never while a source is asked."""
        self._wanted = threading.Event()
        self._closed = False
        self._ended = False
        self._waking, self._wake = os.pipe()
        self._look: Look[T] | None = None
        self._whole_ns: int | None = None
        self.asked_ns: int | None = None
        """Since when an answer is awaited; None while none is."""
        self._died: NotAvailable | None = None

    @property
    def value(self) -> T | None:
        """What it brought last; None before the first answer."""
        return None if self._look is None else self._look.value

    @property
    def has_answered(self) -> bool:
        """Whether a whole answer has come, or none ever will."""
        return self._whole_ns is not None or self._is_over

    def status(self, moment: Moment) -> SourceStatus:
        """How it is at that moment."""
        fault = self._died or (None if self._look is None else self._look.fault)
        asked_ns = self.asked_ns
        if self._died is None and asked_ns is not None:
            waited_s = (moment.monotonic_ns - asked_ns) / 1e9
            fault = NotAvailable(Lack.NO_ANSWER) if waited_s > self.polled.deadline_s else fault
        return SourceStatus(self.polled.name, self._whole_ns, fault)

    def resume(self) -> None:
        """Start to ask, or go on with it."""
        self._wanted.set()
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._run, name=self.polled.name, daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Ask no more after the poll that is under way."""
        self._wanted.clear()

    def close(self) -> None:
        """Let the thread end when it can, and the source with it; waits for neither."""
        with self._lock:
            if not self._closed and not self._ended:
                os.write(self._wake, b".")
            self._closed = True
        self._wanted.set()
        if self._thread is None:
            self._end()

    @property
    def _is_over(self) -> bool:
        return self._died is not None or (self._look is not None and self._look.over)

    def _run(self) -> None:
        while not self._closed:
            start_ns = self._poll()
            if self._is_over:
                break
            if self._look is None or not self._look.more:
                self._rest(start_ns)
            self._wanted.wait()
        self._end()

    def _poll(self) -> int:
        """Ask once; the monotonic time at which it was asked."""
        before, had_answered = self._look, self.has_answered
        moment = now()
        self.asked_ns = self.asked_ns or moment.monotonic_ns
        try:
            self._look = self.polled.look(moment)
        except BREAKDOWNS as error:
            self._died = NotAvailable(Lack.DIED, f"{type(error).__name__}: {error}")
        look = self._look
        if look is None or self._died is not None or not look.more:
            self.asked_ns = None
            if look is not None and self._died is None and not look.over:
                self._whole_ns = moment.monotonic_ns
        self._tell(had_answered != self.has_answered or _lack(before) != _lack(look))
        return moment.monotonic_ns

    def _rest(self, start_ns: int) -> None:
        """Wait for the next interval, or for something that is worth an early poll."""
        poller = select.poll()
        for descriptor in (self._waking, *self.polled.descriptors()):
            poller.register(descriptor, select.POLLIN)
        left_s = self.polled.interval_s - (now().monotonic_ns - start_ns) / 1e9
        if poller.poll(max(left_s, SHORTEST_S) * 1000) and not self._closed:
            threading.Event().wait(SHORTEST_S)

    def _end(self) -> None:
        with self._lock:
            if not self._ended:
                self._ended = True
                self.polled.close()
                os.close(self._waking)
                os.close(self._wake)


def _lack(look: Look[T] | None) -> Lack | None:
    return None if look is None or look.fault is None else look.fault.lack
