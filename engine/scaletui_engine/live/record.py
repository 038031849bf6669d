"""One record of a ring: the measures of a moment, or something that happened."""

from __future__ import annotations

import struct
import zlib
from typing import Final

from scaletui_engine.live.text import clean
from scaletui_probe.layout import (
    GROUP_OF,
    MEASURES,
    REASON_GROUPS,
    RECORD_CRC_OFFSET,
    RECORD_FIELDS,
    RECORD_SIZE,
    Event,
    Kind,
    Reason,
)


def _offsets() -> dict[str, int]:
    """Where each field begins."""
    found: dict[str, int] = {}
    end = 0
    for field in RECORD_FIELDS:
        found[field.name] = end
        end += struct.calcsize(f"<{field.code}")
    return found


_AT: Final = _offsets()
_NUMBER: Final = struct.Struct("<Q")
_SIGNED: Final = struct.Struct("<qq")
_FIRST: Final = _AT[MEASURES[0]]
_BIT: Final = {name: index for index, name in enumerate(MEASURES)}
_FRAME: Final = struct.Struct(f"<QH22xQQ{RECORD_CRC_OFFSET - 48}xIQ")
"""Sequence, kind, what is available, when; at the end the checksum and the sequence again."""
_GROUP_INDEX: Final = {name: REASON_GROUPS.index(group) for name, group in GROUP_OF.items()}
_KINDS: Final = {int(kind): kind for kind in Kind}
_EVENTS: Final = {int(event): event for event in Event}
_REASONS: Final = {int(reason): reason for reason in Reason}
_HELD: Final = slice(_AT["weights_device"], _AT["unsharded_gradients_host"] + _NUMBER.size)
_REASONS_AT: Final = slice(_AT["reasons"], _AT["errors"])
_ACTIVE: Final = slice(_AT["active"], _AT["active"] + _NUMBER.size)
assert (_AT["available"], _AT["monotonic_ns"], _AT["crc32"]) == (32, 40, RECORD_CRC_OFFSET), _AT
assert _FRAME.size == RECORD_SIZE, _FRAME.size


class Measured:
    """Measures that are looked up together, a thousand times a second; named in the layout's order."""

    __slots__ = ("_taken", "bits", "mask", "nothing", "values")

    def __init__(self, *names: str) -> None:
        self.bits = tuple(_BIT[name] for name in names)
        self.mask = sum(1 << bit for bit in self.bits)
        self.nothing = (None,) * len(names)
        gaps = (later - earlier - 1 for earlier, later in zip((-1, *self.bits), self.bits, strict=False))
        self.values = struct.Struct("<" + "".join(f"{8 * gap}xQ" for gap in gaps))
        self._taken: dict[int, tuple[bool, ...]] = {}

    def taken(self, available: int) -> tuple[bool, ...]:
        """For each of them whether its bit is set; kept, as a job leaves out the same ones all the time."""
        found = self._taken.get(available)
        if found is None:
            found = self._taken[available] = tuple([available >> bit & 1 == 1 for bit in self.bits])
        return found


class Record:
    """A checked copy of one record. Fields are looked up when asked for: most of thousands never are."""

    __slots__ = ("_available", "_data", "kind", "monotonic_ns", "write")

    def __init__(self, data: bytes, kind: Kind, numbers: tuple[int, int, int]) -> None:
        self._data = data
        self.kind = kind
        """Sample, step or event."""
        self.write, self._available, self.monotonic_ns = numbers
        """Its number in its region, from 0; what is available; when, by the clock that runs since boot."""

    @property
    def event(self) -> Event:
        """What happened; NONE for kinds of event that this version does not know."""
        at = _AT["event"]
        return _EVENTS.get(int.from_bytes(self._data[at : at + 2], "little"), Event.NONE)

    @property
    def wall_ns(self) -> int:
        """When, by the clock on the wall."""
        return self._number(_AT["wall_ns"])

    @property
    def event_values(self) -> tuple[int, int]:
        """The numbers of an event."""
        first, second = _SIGNED.unpack_from(self._data, _AT["event_value_0"])
        return first, second

    @property
    def text(self) -> str:
        """The word of an event, safe to print."""
        return clean(self._data[_AT["text"] : _AT["unsharded_groups"]])

    @property
    def unsharded_groups(self) -> bytes:
        """One bit for each FSDP group."""
        return self._data[_AT["unsharded_groups"] : _AT["spare"]]

    @property
    def errors(self) -> int:
        """Errors that the probe swallowed until then."""
        at = _AT["errors"]
        return int.from_bytes(self._data[at : at + 4], "little")

    @property
    def held_key(self) -> tuple[int, bytes, bytes, bytes]:
        """Everything that the categories are computed from, and why some are missing."""
        return self._available, self._data[_ACTIVE], self._data[_HELD], self._data[_REASONS_AT]

    def get(self, measure: str) -> int | None:
        """The value of a measure, None when it was not taken."""
        bit = _BIT[measure]
        return self._number(_FIRST + 8 * bit) if self._available >> bit & 1 else None

    def several(self, measures: Measured) -> tuple[int | None, ...]:
        """The values of some measures at once, None for each that was not taken."""
        available, mask = self._available, measures.mask
        if not available & mask:
            return measures.nothing
        found = measures.values.unpack_from(self._data, _FIRST)
        if available & mask == mask:
            return found
        pairs = zip(found, measures.taken(available & mask), strict=True)
        return tuple([value if is_taken else None for value, is_taken in pairs])

    def reason(self, measure: str) -> Reason:
        """Why a measure was not taken; AVAILABLE when it was."""
        if self._available >> _BIT[measure] & 1:
            return Reason.AVAILABLE
        return _REASONS.get(self._data[_AT["reasons"] + _GROUP_INDEX[measure]], Reason.READ_FAILED)

    def _number(self, at: int) -> int:
        return int.from_bytes(self._data[at : at + _NUMBER.size], "little")


def parse_record(data: bytes) -> Record | None:
    """The record in `RECORD_SIZE` bytes; None for a slot that is empty, in the making or torn."""
    if len(data) != RECORD_SIZE:
        return None
    sequence, number, available, monotonic_ns, checksum, sequence_end = _FRAME.unpack(data)
    kind = _KINDS.get(number)
    if sequence == 0 or sequence % 2 or sequence_end != sequence or kind is None:
        return None
    if zlib.crc32(data[:RECORD_CRC_OFFSET]) != checksum:
        return None
    return Record(data, kind, (sequence // 2 - 1, available, monotonic_ns))
