"""The writer of a ring file.

Records are written with pwrite, not through a memory map: a store into a map raises SIGBUS, which would end
the training job, when a copy-on-write disk is full or when somebody has cut the file short; pwrite
returns an error. Readers may map the file: both see the same pages.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import threading
import zlib
from typing import TYPE_CHECKING

from scaletui_probe.header import Header, encode_header
from scaletui_probe.layout import (
    EVENTS_CAPACITY,
    HEADER_SIZE,
    PLAN_PREFIX,
    PLAN_SIZE,
    RECORD_SIZE,
    SAMPLES_CAPACITY,
    STEPS_CAPACITY,
    SUFFIX,
    Kind,
    ring_size,
)
from scaletui_probe.record import Record, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

_SEQUENCE = struct.Struct("<Q")
_LOCK_TIMEOUT_S = 0.05
_HEADER_SEQUENCE_OFFSET = 16


class _Region:
    """Slots of one kind and how many writes they have seen.

    Each has its lock: a step that trains never waits for a sample whose disk is slow.
    """

    __slots__ = ("capacity", "lock", "offset", "writes")

    def __init__(self, offset: int, capacity: int) -> None:
        self.offset = offset
        self.capacity = capacity
        self.lock = threading.Lock()
        self.writes = 0


def _regions() -> dict[Kind, _Region]:
    offset = HEADER_SIZE + PLAN_SIZE
    regions = {}
    for kind, capacity in (
        (Kind.SAMPLE, SAMPLES_CAPACITY),
        (Kind.STEP, STEPS_CAPACITY),
        (Kind.EVENT, EVENTS_CAPACITY),
    ):
        regions[kind] = _Region(offset, capacity)
        offset += capacity * RECORD_SIZE
    return regions


class RingWriter:
    """One ring file, open for writing by the process that made it."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.name = name
        self._descriptor = descriptor
        self._regions = _regions()
        self._header_sequence = 0
        self._plan_sequence = 0

    def put_header(self, header: Header) -> None:
        """Write the header; raises OSError."""
        self._header_sequence += 2
        data = encode_header(header, self._header_sequence)
        if self._header_sequence > 2:
            self._write(_SEQUENCE.pack(self._header_sequence - 1), _HEADER_SEQUENCE_OFFSET)
        self._write(data, 0)

    def put_plan(self, plan: Mapping[str, object]) -> None:
        """Write the plan, which has to fit (see `plan_bytes`); raises OSError."""
        body = plan_bytes(plan)
        self._plan_sequence += 2
        self._write(_SEQUENCE.pack(self._plan_sequence - 1), HEADER_SIZE)
        self._write(body, HEADER_SIZE + PLAN_PREFIX.size)
        self._write(PLAN_PREFIX.pack(self._plan_sequence, len(body), zlib.crc32(body)), HEADER_SIZE)

    def put(self, record: Record) -> bool:
        """Write a record to its region; False when another thread kept the region too long. Raises
        OSError."""
        region = self._regions[record.kind]
        if not region.lock.acquire(timeout=_LOCK_TIMEOUT_S):
            return False
        try:
            offset = region.offset + region.writes % region.capacity * RECORD_SIZE
            sequence = 2 * (region.writes + 1)
            data = encode(record, sequence)
            self._write(_SEQUENCE.pack(sequence - 1), offset)
            self._write(data, offset)
            region.writes += 1
        finally:
            region.lock.release()
        return True

    def close(self) -> None:
        """Let go of the file; it stays where it is as the black box."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _write(self, data: bytes, offset: int) -> None:
        written = os.pwrite(self._descriptor, data, offset)
        if written != len(data):
            raise OSError(errno.ENOSPC, f"{written} of {len(data)} bytes written")


def plan_bytes(plan: Mapping[str, object]) -> bytes:
    """The plan as JSON; raises OSError when it is larger than its area."""
    body = json.dumps(plan, separators=(",", ":"), allow_nan=False).encode()
    if len(body) > PLAN_SIZE - PLAN_PREFIX.size:
        raise OSError(errno.EFBIG, f"plan of {len(body)} bytes > {PLAN_SIZE - PLAN_PREFIX.size}")
    return body


def ring_name(header: Header) -> str:
    """The file's name: unique on a machine as long as it runs."""
    return f"r{header.rank:05d}.p{header.pid}.{header.pid_start_ticks}{SUFFIX}"


def create_ring(directory: int, header: Header) -> RingWriter:
    """A new ring in the folder with descriptor `directory`; raises OSError, leaving no file behind.

    All its blocks are claimed at once, so that a disk that fills up later cannot hurt.
    """
    name = ring_name(header)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=directory)
    try:
        _claim(descriptor, ring_size())
        ring = RingWriter(descriptor, name)
        ring.put_header(header)
    except OSError:
        os.close(descriptor)
        os.unlink(name, dir_fd=directory)
        raise
    return ring


def _claim(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise
    os.ftruncate(descriptor, size)
