"""One record: the measures of a moment, and how they become RECORD_SIZE bytes and come back."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

from scaletui_probe.layout import (
    GROUP_OF,
    MEASURES,
    REASON_GROUPS,
    RECORD,
    RECORD_CRC_OFFSET,
    Event,
    Kind,
    Reason,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

INDEX = {name: index for index, name in enumerate(MEASURES)}
GROUP_INDEX = {name: index for index, name in enumerate(REASON_GROUPS)}
_TAIL = struct.Struct("<IQ")


class Measures:
    """Numbers that were taken, by name, and the reason of every group of them that was not."""

    __slots__ = ("available", "reasons", "values")

    def __init__(self) -> None:
        self.values = [0] * len(MEASURES)
        self.available = 0
        self.reasons = bytearray(8)

    def copy(self) -> Measures:
        """The same measures, to be added to."""
        twin = Measures.__new__(Measures)
        twin.values = self.values.copy()
        twin.available = self.available
        twin.reasons = self.reasons.copy()
        return twin

    def put(self, found: Mapping[str, int]) -> None:
        """Take over measures by name."""
        for name, value in found.items():
            index = INDEX[name]
            self.values[index] = value
            self.available |= 1 << index

    def lack(self, group: str, reason: Reason) -> None:
        """Say why a group's measures that are not there are not."""
        self.reasons[GROUP_INDEX[group]] = reason

    def get(self, name: str) -> int | None:
        """The measure, or None when it is not available."""
        index = INDEX[name]
        return self.values[index] if self.available >> index & 1 else None

    def reason(self, name: str) -> Reason:
        """Why a measure is not available, or AVAILABLE."""
        if self.get(name) is not None:
            return Reason.AVAILABLE
        return Reason(self.reasons[GROUP_INDEX[GROUP_OF[name]]])


class Record(NamedTuple):
    """What one slot holds; times are nanoseconds, the first since boot and the second since 1970."""

    kind: Kind
    monotonic_ns: int
    wall_ns: int
    measures: Measures
    event: Event = Event.NONE
    event_values: tuple[int, int] = (0, 0)
    text: str = ""
    unsharded_groups: bytes = b""
    device_index: int = -1
    errors: int = 0
    dropped: int = 0


def encode(record: Record, sequence: int) -> bytes:
    """The slot's bytes, complete with both sequences and the checksum."""
    measures = record.measures
    body = RECORD.pack(
        sequence,
        record.kind,
        record.event,
        record.device_index,
        measures.reasons,
        record.errors,
        record.dropped,
        measures.available,
        record.monotonic_ns,
        record.wall_ns,
        *record.event_values,
        *measures.values,
        record.text.encode("utf-8", "replace") if record.text else b"",
        record.unsharded_groups,
        b"",
        0,
        0,
    )[:RECORD_CRC_OFFSET]
    return body + _TAIL.pack(zlib.crc32(body), sequence)


def decode(data: bytes) -> tuple[int, Record] | None:
    """The sequence and the record in a slot's bytes; None when the slot is empty, being written or torn."""
    fields = RECORD.unpack(data)
    sequence, crc32, sequence_end = fields[0], fields[-2], fields[-1]
    if sequence == 0 or sequence % 2 or sequence != sequence_end:
        return None
    if zlib.crc32(data[:RECORD_CRC_OFFSET]) != crc32:
        return None
    return sequence, _record(fields)


def _record(fields: tuple) -> Record:  # type: ignore[type-arg]  # struct's own type: a tuple of anything
    measures = Measures()
    measures.reasons[:] = fields[4]
    measures.available = fields[7]
    measures.values = list(fields[12 : 12 + len(MEASURES)])
    text, unsharded_groups = fields[12 + len(MEASURES) : 14 + len(MEASURES)]
    return Record(
        kind=Kind(fields[1]),
        event=Event(fields[2]),
        device_index=fields[3],
        errors=fields[5],
        dropped=fields[6],
        monotonic_ns=fields[8],
        wall_ns=fields[9],
        event_values=(fields[10], fields[11]),
        measures=measures,
        text=text.rstrip(b"\0").decode("utf-8", "replace"),
        unsharded_groups=unsharded_groups,
    )
