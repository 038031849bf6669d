"""Bytes a rank holds, by category, with None for what was not counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaletui_engine.live.record import Record

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
        return sum(value or 0 for _, value in self.items())


NOTHING: Final = Held()


def held(record: Record) -> Held:
    """What a record says, both places together; `rest` is what the allocator holds beyond it.

    rest = active - sum(categories on the accelerator), None without an allocator.
    """
    on_device = held_on(record, "device")
    on_host = held_on(record, "host")
    active = record.get("active")
    rest = None if active is None else max(active - on_device.total, 0)
    both = {
        name: _add(getattr(on_device, name), getattr(on_host, name)) for name in CATEGORIES if name != "rest"
    }
    return Held(**both, rest=rest)


def held_on(record: Record, place: str) -> Held:
    """What a record says of one place: "device" or "host"."""
    states = {name: record.get(f"{name}_{place}") for name in STATES}
    unsharded = _add(record.get(f"unsharded_weights_{place}"), record.get(f"unsharded_gradients_{place}"))
    return Held(**states, unsharded=unsharded)


def _add(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


class HeldMemo:
    """What was counted of the last record, kept: from one sample to the next it seldom changes."""

    __slots__ = ("_count", "_held", "_key")

    def __init__(self, count: Callable[[Record], Held]) -> None:
        self._count = count
        self._key: tuple[object, ...] = ()
        self._held = NOTHING

    def of(self, record: Record | None) -> Held:
        """The count of a record, the same object for records that say the same; nothing for no record."""
        if record is None:
            return NOTHING
        key = record.held_key
        if key != self._key:
            self._key, self._held = key, self._count(record)
        return self._held
