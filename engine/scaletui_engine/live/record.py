"""One record of a ring: the measures of a moment, or something that happened."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

from scaletui_engine.live.fields import Fields, index_of
from scaletui_probe.layout import (
    GROUP_OF,
    MEASURES,
    REASON_GROUPS,
    RECORD,
    RECORD_CRC_OFFSET,
    RECORD_FIELDS,
    RECORD_SIZE,
    Event,
    Kind,
    Reason,
)

_INDEX: Final = index_of(RECORD_FIELDS)
_FIRST: Final = _INDEX[MEASURES[0]]
_BIT: Final = {name: index for index, name in enumerate(MEASURES)}
_GROUP_INDEX: Final = {name: REASON_GROUPS.index(group) for name, group in GROUP_OF.items()}
_KINDS: Final = {int(kind): kind for kind in Kind}
_EVENTS: Final = {int(event): event for event in Event}
_REASONS: Final = {int(reason): reason for reason in Reason}


@dataclass(frozen=True, slots=True)
class Record:
    """A checked copy of one record."""

    write: int
    """Its number in its region, from 0."""
    kind: Kind
    event: Event
    device_index: int
    reasons: bytes
    available: int
    monotonic_ns: int
    wall_ns: int
    event_values: tuple[int, int]
    measures: tuple[int, ...]
    """In the order of `MEASURES`; those without their bit in `available` mean nothing."""
    text: str
    unsharded_groups: bytes
    errors: int
    dropped: int

    def get(self, measure: str) -> int | None:
        """The value of a measure, None when it was not taken."""
        bit = _BIT[measure]
        return self.measures[bit] if self.available >> bit & 1 else None

    def reason(self, measure: str) -> Reason:
        """Why a measure was not taken; AVAILABLE when it was."""
        if self.available >> _BIT[measure] & 1:
            return Reason.AVAILABLE
        return _REASONS.get(self.reasons[_GROUP_INDEX[measure]], Reason.READ_FAILED)


def parse_record(data: bytes) -> Record | None:
    """The record in `RECORD_SIZE` bytes; None for a slot that is empty, in the making or torn."""
    if len(data) != RECORD_SIZE:
        return None
    fields = Fields(_INDEX, RECORD.unpack(data))
    sequence = fields.number("sequence")
    if sequence == 0 or sequence % 2 or fields.number("sequence_end") != sequence:
        return None
    if zlib.crc32(data[:RECORD_CRC_OFFSET]) != fields.number("crc32") or fields.number("kind") not in _KINDS:
        return None
    return _record(fields)


def _record(fields: Fields) -> Record:
    return Record(
        write=fields.number("sequence") // 2 - 1,
        kind=_KINDS[fields.number("kind")],
        event=_EVENTS.get(fields.number("event"), Event.NONE),
        device_index=fields.number("device_index"),
        reasons=fields.raw("reasons"),
        available=fields.number("available"),
        monotonic_ns=fields.number("monotonic_ns"),
        wall_ns=fields.number("wall_ns"),
        event_values=(fields.number("event_value_0"), fields.number("event_value_1")),
        measures=tuple(map(int, fields.values[_FIRST : _FIRST + len(MEASURES)])),
        text=fields.text("text"),
        unsharded_groups=fields.raw("unsharded_groups"),
        errors=fields.number("errors"),
        dropped=fields.number("dropped"),
    )
