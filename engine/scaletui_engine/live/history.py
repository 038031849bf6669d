"""A rank's past in a fixed amount of memory: the last steps one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.live.window import Window

RECENT: Final = 240
"""Steps kept one by one."""


@dataclass(frozen=True, slots=True)
class Point:
    """The end of one optimizer step; without an allocator, a sample taken soon after it."""

    step: int
    monotonic_ns: int
    step_ns: int | None
    allocated: int | None
    """Bytes the allocator had handed out; None without an allocator."""
    host_rss: int | None


class History(Window[Point]):
    """The last `RECENT` points of one rank, however long the job runs."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(RECENT)

    def add(self, item: Point) -> None:
        """Take the next point; one that is not newer than the last is a repetition and is dropped."""
        last = self.last
        if last is None or item.step > last.step:
            super().add(item)

    @property
    def recent(self) -> tuple[Point, ...]:
        """The last steps, oldest first."""
        return self.past.items
