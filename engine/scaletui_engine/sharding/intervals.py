"""Sets of indices as ascending half-open intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Interval = tuple[int, int]
"""[start, stop)."""
Intervals = tuple[Interval, ...]
"""Ascending, disjoint, none of them empty, neighbours merged."""


def span(start: int, stop: int) -> Intervals:
    """One interval, or none where it is empty."""
    return ((start, stop),) if stop > start else ()


def size(intervals: Intervals) -> int:
    """How many indices there are."""
    return sum(stop - start for start, stop in intervals)


def merge(pieces: Iterable[Interval]) -> Intervals:
    """Ascending pieces with the empty ones left out and neighbours joined."""
    found: list[Interval] = []
    for start, stop in pieces:
        if stop <= start:
            continue
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return tuple(found)


def select(intervals: Intervals, wanted: Interval) -> Intervals:
    """The members whose position within the set lies in `wanted`."""
    found: list[Interval] = []
    before = 0
    for start, stop in intervals:
        low = max(wanted[0] - before, 0)
        high = min(wanted[1] - before, stop - start)
        if high > low:
            found.append((start + low, start + high))
        before += stop - start
    return tuple(found)


def select_all(intervals: Intervals, wanted: Intervals) -> Intervals:
    """The members whose positions lie in any of `wanted`."""
    return merge(piece for each in wanted for piece in select(intervals, each))


def overlap(one: Interval, other: Interval) -> Interval:
    """What two intervals share; empty where start >= stop."""
    return max(one[0], other[0]), min(one[1], other[1])


def around(intervals: Intervals, index: int) -> Interval | None:
    """The interval that holds `index`."""
    return next((each for each in intervals if each[0] <= index < each[1]), None)
