"""One region of a ring and how far it has been read."""

from __future__ import annotations

import os
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.record import Record, parse_record
from scaletui_probe.layout import RECORD_SIZE

if TYPE_CHECKING:
    from scaletui_engine.live.header import Region

AHEAD: Final = 8
"""The most records read in one go."""
_USUAL: Final = 2
_SEQUENCE: Final = struct.Struct("<Q")
_NEVER: Final = bytes(_SEQUENCE.size)
"""What a slot begins with that was never written."""


class RegionReader:
    """Follows the writes of one region; reads all of it only at first and when the writer was a lap ahead."""

    __slots__ = (
        "_ahead", "_at", "_capacity", "_length", "_next", "_offset", "_stale", "_wanted", "region",
    )  # fmt: skip

    def __init__(self, region: Region, wanted: int) -> None:
        self.region = region
        self._offset, self._capacity = region.offset, region.capacity
        self._wanted = wanted
        """The most records of the past that are worth decoding."""
        self._next: int | None = None
        self._stale = _NEVER
        """What the slot of the next write begins with until it is written."""
        self._ahead = _USUAL
        """Records read in one go: those that the last call brought, and the one that is not there yet."""
        self._at = self._length = 0
        """The bytes that the next call reads."""

    def read(self, descriptor: int) -> tuple[Record, ...]:
        """The records written since the last call, oldest first, at most a lap of them. Raises OSError."""
        if self._next is None:
            return self._scan(descriptor)
        block = os.pread(descriptor, self._length, self._at)
        if block.startswith(self._stale):
            return ()  # nothing was written since: the usual end
        record = parse_record(block[:RECORD_SIZE])
        if record is None or record.write != self._next:
            return self._more(descriptor, block)
        self._go_on(record.write + 1)
        if len(block) == _USUAL * RECORD_SIZE and block.startswith(self._stale, RECORD_SIZE):
            return (record,)
        return self._follow(descriptor, block[RECORD_SIZE:], record)

    def _follow(self, descriptor: int, block: bytes, first: Record) -> tuple[Record, ...]:
        """The first new record and those after it, of which `block` may hold some."""
        found = [first]
        while len(found) < self._capacity:
            if not block:
                self._aim(AHEAD)
                block = os.pread(descriptor, self._length, self._at)
            if not block or block.startswith(self._stale):
                break
            record = parse_record(block[:RECORD_SIZE])
            if record is None or record.write != self._next:
                return (*found, *self._more(descriptor, block))
            found.append(record)
            self._go_on(record.write + 1)
            block = block[RECORD_SIZE:]
        self._aim(min(len(found) + 1, AHEAD))
        return tuple(found)

    def _go_on(self, write: int) -> None:
        """To the slot of that write."""
        capacity = self._capacity
        slot = write % capacity
        self._next = write
        self._stale = _NEVER if write == slot else _SEQUENCE.pack(2 * (write - capacity + 1))
        self._at = self._offset + slot * RECORD_SIZE
        left = capacity - slot
        self._length = (self._ahead if self._ahead < left else left) * RECORD_SIZE

    def _aim(self, ahead: int) -> None:
        """Read so many records at the next read, or as many as there are slots."""
        self._ahead = ahead
        self._go_on(self._next or 0)

    def _more(self, descriptor: int, rest: bytes) -> tuple[Record, ...]:
        """What a scan finds where the slot of the next write holds neither nothing nor its last lap's record:
        a write of a later lap, or one that is being made."""
        return () if rest.startswith(_NEVER) else self._scan(descriptor)

    def _scan(self, descriptor: int) -> tuple[Record, ...]:
        """The newest whole records of the region that were not returned yet."""
        data = os.pread(descriptor, self._capacity * RECORD_SIZE, self._offset)
        newest = sorted(self._writes(data))[-self._wanted :]
        slots = (write % self._capacity * RECORD_SIZE for write in newest)
        parsed = (parse_record(data[at : at + RECORD_SIZE]) for at in slots)
        found = tuple([record for record in parsed if record is not None])
        if found or self._next is None:
            self._go_on(found[-1].write + 1 if found else 0)
        return found

    def _writes(self, data: bytes) -> list[int]:
        """The new writes that slots claim to hold; a slot may be empty, or claim another's."""
        capacity, first = self._capacity, self._next or 0
        sequences = _claims(len(data) // RECORD_SIZE).unpack_from(data)
        written = [(slot, claim) for slot, claim in enumerate(sequences) if claim]
        writes = [(slot, claim // 2 - 1) for slot, claim in written if claim % 2 == 0]
        return [write for slot, write in writes if write >= first and write % capacity == slot]


@lru_cache(8)
def _claims(slots: int) -> struct.Struct:
    """The sequences that so many slots begin with."""
    return struct.Struct("<" + f"Q{RECORD_SIZE - _SEQUENCE.size}x" * slots)
