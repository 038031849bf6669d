"""The last items of a sequence that goes on and on, and what they were at some moment."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

Item = TypeVar("Item")

SPARE: Final = 32
"""Items beyond the last that matter before the old ones are let go."""


class Kept(Generic[Item]):
    """A window as it was at one moment; to take it copies nothing."""

    __slots__ = ("_kept", "_start", "_stop")

    def __init__(self, kept: list[Item], start: int, stop: int) -> None:
        self._kept, self._start, self._stop = kept, start, stop

    @property
    def items(self) -> tuple[Item, ...]:
        """Oldest first."""
        return tuple(self._kept[self._start : self._stop])


class Window(Generic[Item]):
    """Keeps the last `most` items, and now and then a few more."""

    __slots__ = ("_kept", "_past", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._past: Kept[Item] | None = None
        self._kept: list[Item] = []
        """Grows at its end alone, so that a past stays what it was; another list takes over in time."""

    def add(self, item: Item) -> None:
        """Take the next item."""
        if len(self._kept) >= self.most + SPARE:
            self._kept = self._kept[-self.most :]
        self._kept.append(item)
        self._past = None

    @property
    def past(self) -> Kept[Item]:
        """What it holds now."""
        past = self._past
        if past is None:
            count = len(self._kept)
            past = self._past = Kept(self._kept, max(count - self.most, 0), count)
        return past
