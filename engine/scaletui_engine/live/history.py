"""A rank's past in a fixed amount of memory: the last steps one by one, and all of them thinned out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

RECENT: Final = 240
"""Steps kept one by one."""
LONG: Final = 512
"""Points of the whole run; at twice as many every other one is dropped."""


@dataclass(frozen=True, slots=True)
class Point:
    """The end of one optimizer step; without an allocator, a sample taken soon after it."""

    step: int
    monotonic_ns: int
    step_ns: int | None
    allocated: int | None
    """Bytes the allocator had handed out; None without an allocator."""
    host_rss: int | None


class History:
    """Points of one rank; it holds at most `RECENT + 2 * LONG` of them, however long the job runs."""

    def __init__(self) -> None:
        self._recent: deque[Point] = deque(maxlen=RECENT)
        self._long: list[Point] = []
        self._stride = 1
        self._count = 0

    def add(self, point: Point) -> None:
        """Take the next point; one that is not newer than the last is a repetition and is dropped."""
        if self._recent and point.step <= self._recent[-1].step:
            return
        self._recent.append(point)
        if self._count % self._stride == 0:
            self._long.append(point)
        self._count += 1
        if len(self._long) >= 2 * LONG:
            self._long = self._long[::2]
            self._stride *= 2

    @property
    def recent(self) -> tuple[Point, ...]:
        """The last steps, oldest first."""
        return tuple(self._recent)

    @property
    def long(self) -> tuple[Point, ...]:
        """The whole run, oldest first, evenly thinned out."""
        return tuple(self._long)
