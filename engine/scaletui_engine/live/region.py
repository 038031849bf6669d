"""One region of a ring and how far it has been read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.record import Record, parse_record
from scaletui_probe.layout import RECORD_SIZE

if TYPE_CHECKING:
    from scaletui_engine.live.header import Region

AHEAD: Final = 8
"""Records read in one go once a new one has been found."""


class RegionReader:
    """Follows the writes of one region; reads all of it only at first and when the writer was a lap ahead."""

    def __init__(self, region: Region, wanted: int) -> None:
        self.region = region
        self._wanted = wanted
        """The most records of the past that are worth decoding."""
        self._next: int | None = None

    def read(self, descriptor: int) -> tuple[Record, ...]:
        """The records written since the last call, oldest first, at most a lap of them. Raises OSError."""
        if self._next is None:
            return self._scan(descriptor)
        found: list[Record] = []
        ahead = 1
        while len(found) < self.region.capacity:
            block = self._block(descriptor, self._next % self.region.capacity, ahead)
            ahead = AHEAD
            fresh = self._fresh(block)
            found += fresh
            if len(fresh) < len(block) // RECORD_SIZE:
                rest = block[len(fresh) * RECORD_SIZE :]
                return (*found, *self._scan(descriptor)) if self._lapped(rest) else tuple(found)
            if not fresh:
                break
        return tuple(found)

    def _block(self, descriptor: int, slot: int, ahead: int) -> bytes:
        count = min(ahead, self.region.capacity - slot)
        return os.pread(descriptor, count * RECORD_SIZE, self.region.offset + slot * RECORD_SIZE)

    def _fresh(self, block: bytes) -> list[Record]:
        """The records of the block that are the very next writes."""
        found: list[Record] = []
        for start in range(0, len(block), RECORD_SIZE):
            record = parse_record(block[start : start + RECORD_SIZE])
            if record is None or record.write != self._next:
                break
            found.append(record)
            self._next = record.write + 1
        return found

    def _lapped(self, rest: bytes) -> bool:
        """Whether the slot where the next write belongs holds neither nothing nor its last lap's record."""
        assert self._next is not None, "a scan has set it"
        return _sequence(rest, 0) not in (0, 2 * (self._next - self.region.capacity + 1))

    def _scan(self, descriptor: int) -> tuple[Record, ...]:
        """The newest whole records of the region that were not returned yet."""
        data = os.pread(descriptor, self.region.capacity * RECORD_SIZE, self.region.offset)
        first = self._next or 0
        writes = (self._write_of(data, at) for at in range(0, len(data) - RECORD_SIZE + 1, RECORD_SIZE))
        newest = sorted(write for write in writes if write is not None and write >= first)[-self._wanted :]
        slots = (write % self.region.capacity * RECORD_SIZE for write in newest)
        parsed = (parse_record(data[at : at + RECORD_SIZE]) for at in slots)
        found = tuple(record for record in parsed if record is not None)
        if found or self._next is None:
            self._next = found[-1].write + 1 if found else 0
        return found

    def _write_of(self, data: bytes, at: int) -> int | None:
        """The number of the write that a slot claims to hold; None for a slot that is empty or another's."""
        sequence = _sequence(data, at)
        write = sequence // 2 - 1
        whole = sequence > 0 and sequence % 2 == 0
        return write if whole and write % self.region.capacity == at // RECORD_SIZE else None


def _sequence(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")
