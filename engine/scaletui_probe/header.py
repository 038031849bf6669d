"""The header of a ring file: who writes it, in which job, and where its parts lie."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

from scaletui_probe.layout import (
    BYTE_ORDER_MARK,
    EVENTS_CAPACITY,
    HEADER,
    HEADER_CRC_OFFSET,
    HEADER_FIELDS,
    HEADER_SIZE,
    MAGIC,
    PLAN_SIZE,
    RECORD_SIZE,
    SAMPLES_CAPACITY,
    STEPS_CAPACITY,
    VERSION,
    Mode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class RingFormatError(ValueError):
    """A file that is not a ring of this version; `str()` says what was found and what was expected."""


class Header(NamedTuple):
    """The fields of HEADER_FIELDS that describe the process; units and "unknown" are told there."""

    mode: Mode
    uid: int
    rank: int
    local_rank: int
    world_size: int
    local_world_size: int
    attempt: int
    device_index: int
    micro_batch: int
    sequence_length: int
    pid: int
    pid_start_ticks: int
    parent_pid: int
    parent_start_ticks: int
    created_monotonic_ns: int
    created_wall_ns: int
    interval_ns: int
    device_type: str
    device_uuid: str
    boot_id: str
    torch_version: str
    python_version: str
    job_id: str
    host: str
    slurm_id: str
    slurm_nodes: str
    working_folder: str
    command: str


_SAMPLES_OFFSET = HEADER_SIZE + PLAN_SIZE
_STEPS_OFFSET = _SAMPLES_OFFSET + SAMPLES_CAPACITY * RECORD_SIZE
_EVENTS_OFFSET = _STEPS_OFFSET + STEPS_CAPACITY * RECORD_SIZE
_FIXED: dict[str, int] = {
    "version": VERSION,
    "byte_order_mark": BYTE_ORDER_MARK,
    "header_size": HEADER_SIZE,
    "record_size": RECORD_SIZE,
    "plan_offset": HEADER_SIZE,
    "plan_size": PLAN_SIZE,
    "samples_offset": _SAMPLES_OFFSET,
    "samples_capacity": SAMPLES_CAPACITY,
    "steps_offset": _STEPS_OFFSET,
    "steps_capacity": STEPS_CAPACITY,
    "events_offset": _EVENTS_OFFSET,
    "events_capacity": EVENTS_CAPACITY,
    "crc32": 0,
}


def _cut(text: str, size: int) -> bytes:
    """UTF-8 of the text, cut at a whole character so that it fits with at least one zero after it."""
    data = text.encode("utf-8", "replace")[: size - 1]
    return data.decode("utf-8", "ignore").encode("utf-8")


def encode_header(header: Header, sequence: int) -> bytes:
    """The first HEADER_SIZE bytes of a ring file."""
    known: dict[str, object] = {"magic": MAGIC, "sequence": sequence, "spare": b""}
    known.update(_FIXED)
    known.update(header._asdict())
    values = []
    for field in HEADER_FIELDS:
        value = known[field.name]
        values.append(_cut(value, int(field.code[:-1])) if isinstance(value, str) else value)
    body = HEADER.pack(*values)[:HEADER_CRC_OFFSET]
    return body + struct.pack("<I", zlib.crc32(body))


def decode_header(data: bytes) -> Header:
    """The header in a file's first bytes; raises RingFormatError for all but a whole one of this
    version."""
    if len(data) < HEADER_SIZE:
        raise RingFormatError(f"{len(data)} bytes < the {HEADER_SIZE} of a header")
    values = HEADER.unpack(data[:HEADER_SIZE])
    found = {field.name: values[index] for index, field in enumerate(HEADER_FIELDS)}
    _check(found)
    whole = zlib.crc32(data[:HEADER_CRC_OFFSET]) == found["crc32"]
    if not whole or not found["sequence"] or found["sequence"] % 2:
        raise RingFormatError(f"header of sequence {found['sequence']} is being written or broken")
    texts = {name: _plain(found[name]) for name in Header._fields if isinstance(found[name], bytes)}
    numbers = {name: found[name] for name in Header._fields if name not in texts}
    return Header(**{**numbers, **texts, "mode": Mode(found["mode"])})


def _check(found: Mapping[str, object]) -> None:
    if found["magic"] != MAGIC:
        raise RingFormatError(f"magic {found['magic']!r} is not {MAGIC!r}")
    for name, expected in _FIXED.items():
        if name != "crc32" and found[name] != expected:
            raise RingFormatError(f"{name} {found[name]} is not the {expected} of version {VERSION}")


def _plain(text: object) -> str:
    return text.rstrip(b"\0").decode("utf-8", "replace") if isinstance(text, bytes) else ""
