"""Blocks of a recording: JSON packed and sealed, and opened again within bounds."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Final

from scaletui_engine.live.recording.fault import DamageError
from scaletui_engine.live.recording.layout import (
    BLOCK,
    BLOCK_MAGIC,
    CRC_OFFSET,
    DICTIONARY,
    MOST_PACKED,
    Block,
)

LEVEL: Final = 6
_RAW: Final = -15
"""Deflate without zlib's own header and checksum: every block has one."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a block was written, on both clocks."""

    monotonic_ns: int
    wall_ns: int


def dumped(value: object) -> bytes:
    """JSON without blanks. Raises ValueError for a number that is not finite."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "replace"
    )


def sealed(kind: Block, payload: bytes, stamp: Stamp) -> bytes:
    """A whole block around a packed payload."""
    fields = (len(payload), int(kind), stamp.monotonic_ns, stamp.wall_ns)
    head = BLOCK.pack(BLOCK_MAGIC, 0, *fields)
    checksum = zlib.crc32(payload, zlib.crc32(head[CRC_OFFSET:]))
    return BLOCK.pack(BLOCK_MAGIC, checksum, *fields) + payload


def packed(data: bytes, before: bytes = b"") -> bytes:
    """The data deflated, with what came before as its dictionary."""
    deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW, zdict=before[-DICTIONARY:])
    return deflater.compress(data) + deflater.flush()


def unpacked(payload: bytes, before: bytes = b"") -> bytes:
    """Back from `packed`, never more than MOST_PACKED bytes. Raises DamageError."""
    inflater = zlib.decompressobj(_RAW, zdict=before[-DICTIONARY:])
    try:
        data = inflater.decompress(payload, MOST_PACKED)
    except zlib.error as error:
        raise DamageError("a block cannot be unpacked") from error
    if not inflater.eof:
        raise DamageError(f"a block is cut, or unpacks to more than {MOST_PACKED} bytes")
    return data


def loaded(data: bytes) -> object:
    """The JSON in an unpacked payload. Raises DamageError."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamageError("a block holds no JSON") from error
