"""One record of a ring: the measures of a moment, or something that happened."""

from __future__ import annotations

import zlib
from typing import Any, Final

from scaletui_engine.live.fields import index_of
from scaletui_engine.live.text import clean
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
_SEQUENCE_END: Final = _INDEX["sequence_end"]
_CRC: Final = _INDEX["crc32"]
_KIND: Final = _INDEX["kind"]
_AVAILABLE: Final = _INDEX["available"]
_FIRST: Final = _INDEX[MEASURES[0]]
_BIT: Final = {name: index for index, name in enumerate(MEASURES)}
_GROUP_INDEX: Final = {name: REASON_GROUPS.index(group) for name, group in GROUP_OF.items()}
_KINDS: Final = {int(kind): kind for kind in Kind}
_EVENTS: Final = {int(event): event for event in Event}
_REASONS: Final = {int(reason): reason for reason in Reason}
_HELD: Final = slice(_FIRST + _BIT["weights_device"], _FIRST + _BIT["unsharded_gradients_host"] + 1)
_ACTIVE: Final = _FIRST + _BIT["active"]


class Record:
    """A checked copy of one record. Fields are looked up when asked for: most of thousands never are."""

    __slots__ = ("_values", "monotonic_ns", "write")

    def __init__(self, values: tuple[Any, ...]) -> None:
        self._values = values
        self.write: int = values[0] // 2 - 1
        """Its number in its region, from 0."""
        self.monotonic_ns: int = values[_INDEX["monotonic_ns"]]

    @property
    def kind(self) -> Kind:
        """Sample, step or event."""
        return _KINDS[self._values[_KIND]]

    @property
    def event(self) -> Event:
        """What happened; NONE for kinds of event that this version does not know."""
        return _EVENTS.get(self._values[_INDEX["event"]], Event.NONE)

    @property
    def wall_ns(self) -> int:
        """When, by the clock on the wall."""
        return int(self._values[_INDEX["wall_ns"]])

    @property
    def event_values(self) -> tuple[int, int]:
        """The numbers of an event."""
        return int(self._values[_INDEX["event_value_0"]]), int(self._values[_INDEX["event_value_1"]])

    @property
    def text(self) -> str:
        """The word of an event, safe to print."""
        return clean(self._values[_INDEX["text"]])

    @property
    def unsharded_groups(self) -> bytes:
        """One bit for each FSDP group."""
        return bytes(self._values[_INDEX["unsharded_groups"]])

    @property
    def errors(self) -> int:
        """Errors that the probe swallowed until then."""
        return int(self._values[_INDEX["errors"]])

    @property
    def held_key(self) -> tuple[Any, ...]:
        """Everything that the categories are computed from: equal keys have equal categories."""
        values = self._values
        return (values[_AVAILABLE], values[_ACTIVE], values[_HELD])

    def get(self, measure: str) -> int | None:
        """The value of a measure, None when it was not taken."""
        bit = _BIT[measure]
        return self._values[_FIRST + bit] if self._values[_AVAILABLE] >> bit & 1 else None

    def reason(self, measure: str) -> Reason:
        """Why a measure was not taken; AVAILABLE when it was."""
        if self._values[_AVAILABLE] >> _BIT[measure] & 1:
            return Reason.AVAILABLE
        return _REASONS.get(self._values[_INDEX["reasons"]][_GROUP_INDEX[measure]], Reason.READ_FAILED)


def parse_record(data: bytes) -> Record | None:
    """The record in `RECORD_SIZE` bytes; None for a slot that is empty, in the making or torn."""
    if len(data) != RECORD_SIZE:
        return None
    values = RECORD.unpack(data)
    sequence = values[0]
    if sequence == 0 or sequence % 2 or values[_SEQUENCE_END] != sequence or values[_KIND] not in _KINDS:
        return None
    return Record(values) if zlib.crc32(data[:RECORD_CRC_OFFSET]) == values[_CRC] else None
