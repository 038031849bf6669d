"""A rank's past in a fixed amount of memory: the last steps one by one, as numbers that lie side by side.

A thousand ranks are looked at every second: points as objects would lie all over the memory, and to fetch
them from there takes longer than to reckon with them.
"""

from __future__ import annotations

from array import array
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

RECENT: Final = 240
"""Steps kept one by one."""
SPARE: Final = 32
"""Points beyond them that are kept before the old ones are let go."""
MISSING: Final = (1 << 64) - 1
"""What stands for None among the numbers of points."""
WIDTH: Final = 5
"""Numbers of a point."""
STEPS, ENDS, TIMES, ALLOCATED = (slice(place, None, WIDTH) for place in range(WIDTH - 1))
"""One field of all points."""

Figures = tuple[int, int, int | None, int | None, int | None]
"""Of a point, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class Point:
    """The end of one optimizer step; without an allocator, a sample taken soon after it."""

    step: int
    monotonic_ns: int
    step_ns: int | None
    allocated: int | None
    """Bytes the allocator had handed out; None without an allocator."""
    host_rss: int | None


def packed(points: Iterable[Point]) -> array[int]:
    """The numbers of points, one after the other."""
    found = array("Q")
    for point in points:
        found.extend([MISSING if value is None else value for value in astuple(point)])
    return found


def unpacked(numbers: array[int]) -> tuple[Point, ...]:
    """The points that these numbers are of."""
    values = [None if value == MISSING else value for value in numbers]
    rows = zip(*(values[place::WIDTH] for place in range(WIDTH)), strict=True)
    return tuple(
        Point(step or 0, end or 0, step_ns, allocated, rss) for step, end, step_ns, allocated, rss in rows
    )


class Past:
    """The points as they were at one moment; to take it copies nothing."""

    __slots__ = ("_kept", "_start", "_stop")

    def __init__(self, kept: array[int], start: int, stop: int) -> None:
        self._kept, self._start, self._stop = kept, start, stop

    @property
    def points(self) -> tuple[Point, ...]:
        """Oldest first."""
        return unpacked(self._kept[self._start : self._stop])

    def last(self, most: int) -> array[int]:
        """The numbers of the newest, oldest first."""
        return self._kept[max(self._stop - most * WIDTH, self._start) : self._stop]


class History:
    """The last `RECENT` points of one rank, however long the job runs."""

    __slots__ = ("_kept", "_past")

    def __init__(self) -> None:
        self._past: Past | None = None
        self._kept = array("Q")
        """Grows at its end alone, so that a past stays what it was; another array takes over in time."""

    def add(self, figures: Figures) -> None:
        """Take the next point; one that is not newer than the last is a repetition and is dropped."""
        kept, (step, end, step_ns, allocated, host_rss) = self._kept, figures
        if kept and step <= kept[-WIDTH]:
            return
        if len(kept) >= (RECENT + SPARE) * WIDTH:
            kept = self._kept = kept[-RECENT * WIDTH :]
        kept.append(step)
        kept.append(end)
        kept.append(MISSING if step_ns is None else step_ns)
        kept.append(MISSING if allocated is None else allocated)
        kept.append(MISSING if host_rss is None else host_rss)
        self._past = None

    @property
    def past(self) -> Past:
        """What it holds now."""
        past = self._past
        if past is None:
            count = len(self._kept)
            past = self._past = Past(self._kept, max(count - RECENT * WIDTH, 0), count)
        return past

    @property
    def recent(self) -> tuple[Point, ...]:
        """The last steps, oldest first."""
        return self.past.points
