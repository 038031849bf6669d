"""Bytes a rank holds, by category, with None for what was not counted."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from scaletui_engine.live.record import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scaletui_engine.live.record import Record

Counted = TypeVar("Counted")

CATEGORIES: Final = ("weights", "gradients", "optimizer", "master_weights", "buffers", "unsharded", "rest")
"""In the order in which they are drawn and listed; `rest` is activations and temporaries."""
STATES: Final = ("weights", "gradients", "optimizer", "master_weights", "buffers")
PLACES: Final = ("device", "host")


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes by category; None where nothing was counted, which is not the same as 0."""

    weights: int | None = None
    gradients: int | None = None
    optimizer: int | None = None
    master_weights: int | None = None
    buffers: int | None = None
    unsharded: int | None = None
    rest: int | None = None

    def items(self) -> Iterator[tuple[str, int | None]]:
        """(category, bytes) in drawing order."""
        return ((name, getattr(self, name)) for name in CATEGORIES)

    @property
    def total(self) -> int:
        """The sum of what was counted."""
        return sum(filter(None, _VALUES(self)))


_VALUES: Final = attrgetter(*CATEGORIES)
NOTHING: Final = Held()


_COUNTED: Final = (*STATES, "unsharded_weights", "unsharded_gradients")
_ON: Final = {place: Measured(*(f"{name}_{place}" for name in _COUNTED)) for place in PLACES}


def held(record: Record) -> Held:
    """What a record says, both places together; `rest` is what the allocator holds beyond it.

    rest = active - sum(categories on the accelerator), None without an allocator.
    """
    on_device, on_host = record.several(_ON["device"]), record.several(_ON["host"])
    active = record.get("active")
    rest = None if active is None else max(active - sum(filter(None, on_device)), 0)
    if on_host is _ON["host"].nothing:
        return _held(on_device, rest)
    pairs = zip(on_device, on_host, strict=True)
    return _held([there if here is None else here + (there or 0) for here, there in pairs], rest)


def held_on(record: Record, place: str) -> Held:
    """What a record says of one place: "device" or "host"."""
    counted = record.several(_ON[place])
    return NOTHING if counted is _ON[place].nothing else _held(counted, None)


def _held(counted: Sequence[int | None], rest: int | None) -> Held:
    weights, gradients, optimizer, master_weights, buffers, gathered, unreduced = counted
    unsharded = unreduced if gathered is None else gathered + (unreduced or 0)
    return Held(weights, gradients, optimizer, master_weights, buffers, unsharded, rest)


class HeldMemo(Generic[Counted]):
    """What was counted of the last record, kept: from one sample to the next it seldom changes."""

    __slots__ = ("_count", "_last", "_nothing")

    def __init__(self, count: Callable[[Record], Counted], nothing: Counted) -> None:
        self._count = count
        self._nothing = nothing
        self._last: tuple[tuple[object, ...], Counted] = (), nothing
        """What it was counted of and the count: one object, as several threads may ask."""

    def of(self, record: Record | None) -> Counted:
        """The count of a record, the same object for records that say the same; nothing for no record."""
        if record is None:
            return self._nothing
        key, (last, counted) = record.held_key, self._last
        if key != last:
            counted = self._count(record)
            self._last = key, counted
        return counted
