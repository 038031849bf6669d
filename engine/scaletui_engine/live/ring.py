"""Reads one ring file again and again: bounded, checked, and never blocked or hurt by what the file holds.

It reads with pread and not through a map: a map of a file that is cut short kills its reader with SIGBUS.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.header import MAX_FILE, MAX_RECORDS, Identity, RingHeader, parse_header
from scaletui_engine.live.history import RECENT
from scaletui_engine.live.region import RegionReader
from scaletui_probe.layout import HEADER_SIZE, PLAN_PREFIX

if TYPE_CHECKING:
    from scaletui_engine.live.record import Record

NEWEST: Final = 60
"""Samples decoded of a ring that is met for the first time."""
TRIES: Final = 3
"""Reads of a header or plan that is being written before giving up until the next refresh."""
CHECKED: Final = 4
"""Every so many reads header and plan are looked at again, though records that go on in order and have their
checksums vouch for the file; without such records they always are."""
SETTLED: Final = 4
"""Reads that find the same time of the last write before the next one trusts it and goes no further. Several,
because a file system may count in seconds: a write in the second of the last read would not show."""
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_Records = tuple["tuple[Record, ...]", "tuple[Record, ...]", "tuple[Record, ...]"]
_NONE: Final[_Records] = ((), (), ())
_QUIETLY: Final = getattr(os, "O_NOATIME", 0)


class RingReading(NamedTuple):
    """What one read of a ring brought: the header, and the records that are new since the last read."""

    path: str
    header: RingHeader
    plan: bytes | None
    """The last whole plan (UTF-8 JSON); None when none was written yet."""
    plan_sequence: int
    """Changes when the plan does."""
    samples: tuple[Record, ...]
    """Oldest first, as are the other two."""
    steps: tuple[Record, ...]
    events: tuple[Record, ...]


class RingReader:
    """One ring file and how far it has been read."""

    __slots__ = (
        "_end", "_file", "_header", "_kind", "_owner", "_plan", "_plan_sequence", "_quiet", "_raw_header",
        "_reads", "_regions", "_regions_of", "_settled", "_written", "path",
    )  # fmt: skip

    def __init__(self, path: str, owner: int) -> None:
        self.path = path
        self._owner = owner
        self._file: tuple[int, ...] | None = None
        self._kind: tuple[int, int, int, int] | None = None
        """Mode, owner, device and number of the file that was found to be in order."""
        self._raw_header = b""
        self._header: RingHeader | None = None
        self._plan: bytes | None = None
        self._plan_sequence = 0
        self._regions: tuple[RegionReader, RegionReader, RegionReader] | None = None
        self._regions_of: RingHeader | None = None
        self._end = 0
        self._reads = 0
        self._written: tuple[int, int] = (0, 0)
        self._settled = 0
        self._quiet: RingReading | None = None

    @property
    def identity(self) -> Identity | None:
        """Who writes it, as far as it has been read."""
        return None if self._header is None else self._header.identity

    def read(self) -> RingReading | RingFault:
        """Everything new in the file; a fault when it cannot be read as a ring now. Raises nothing."""
        if self._settled > SETTLED and self._quiet is not None and self._is_untouched():
            return self._quiet
        try:
            descriptor = _open(self.path)
        except OSError as error:
            return RingFault(
                self.path, _FAULTS.get(error.errno or 0, Fault.UNREADABLE), os.strerror(error.errno or 0)
            )
        try:
            return self._read(descriptor)
        except OSError as error:
            return RingFault(self.path, Fault.UNREADABLE, os.strerror(error.errno or 0))
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int) -> RingReading | RingFault:
        status = os.fstat(descriptor)
        kind = status.st_mode, status.st_uid, status.st_dev, status.st_ino
        if kind != self._kind or status.st_size > MAX_FILE:
            refused = self._refuse(status)
            if refused is not None:
                return refused
        if self._quiet is not None and self._is_settled(status):
            return self._quiet
        self._reads += 1
        early: _Records = _NONE
        if self._header is not None and self._plan is not None and self._reads % CHECKED:
            early = self._records(descriptor, self._header)
            if any(early) and self._fits(status.st_size):
                return RingReading(self.path, self._header, self._plan, self._plan_sequence, *early)
        header = self._read_header(descriptor, status.st_size)
        if not isinstance(header, RingHeader):
            self._quiet = None
            return RingFault(self.path, *header)
        self._read_plan(descriptor, header)
        return self._reading(header, early if any(early) else self._records(descriptor, header))

    def _records(self, descriptor: int, header: RingHeader) -> _Records:
        samples, steps, events = self._readers(header)
        return samples.read(descriptor), steps.read(descriptor), events.read(descriptor)

    def _is_untouched(self) -> bool:
        """Whether the same file is there and nobody has written into it."""
        try:
            status = os.lstat(self.path)
        except OSError:
            return False
        kind = status.st_mode, status.st_uid, status.st_dev, status.st_ino
        return kind == self._kind and (status.st_mtime_ns, status.st_size) == self._written

    def _is_settled(self, status: os.stat_result) -> bool:
        """Whether nobody has written for so many reads that there can be nothing new."""
        written = status.st_mtime_ns, status.st_size
        self._settled = self._settled + 1 if written == self._written else 0
        self._written = written
        return self._settled > SETTLED

    def _reading(self, header: RingHeader, records: _Records) -> RingReading:
        """The same object again and again while there is nothing new."""
        if any(records):
            return RingReading(self.path, header, self._plan, self._plan_sequence, *records)
        quiet = self._quiet
        if quiet is None or quiet.header is not header or quiet.plan_sequence != self._plan_sequence:
            quiet = RingReading(self.path, header, self._plan, self._plan_sequence, (), (), ())
            self._quiet = quiet
        return quiet

    def _refuse(self, status: os.stat_result) -> RingFault | None:
        """Whose file it is and what kind, before a byte of it is believed."""
        kind = status.st_mode, status.st_uid, status.st_dev, status.st_ino
        self._kind = None
        if not stat.S_ISREG(status.st_mode):
            return RingFault(self.path, Fault.NOT_A_FILE)
        if status.st_uid != self._owner:
            return RingFault(self.path, Fault.FOREIGN, f"owner {status.st_uid}, expected {self._owner}")
        if status.st_size > MAX_FILE:
            return RingFault(self.path, Fault.OVERSIZED, f"{status.st_size} bytes, at most {MAX_FILE}")
        self._kind = kind
        if self._file != kind[2:]:
            self._file = kind[2:]
            self._raw_header, self._header, self._regions = b"", None, None
            self._plan, self._plan_sequence, self._quiet = None, 0, None
        return None

    def _read_header(self, descriptor: int, size: int) -> RingHeader | tuple[Fault, str]:
        outcome: RingHeader | tuple[Fault, str] = (Fault.EMPTY, "")
        for _ in range(TRIES):
            data = os.pread(descriptor, HEADER_SIZE, 0)
            if self._header is not None and data == self._raw_header and self._fits(size):
                return self._header
            outcome = parse_header(data, size)
            if isinstance(outcome, RingHeader):
                self._raw_header, self._header = data, outcome
                return outcome
            if outcome[0] is not Fault.TORN:
                return outcome
        return outcome if self._header is None else self._header

    def _fits(self, size: int) -> bool:
        """Whether the file still holds what its header, which has not changed, speaks of."""
        return self._regions is not None and size >= self._end

    def _read_plan(self, descriptor: int, header: RingHeader) -> None:
        """Take the plan when it changed and is whole; else keep the last one that was."""
        for _ in range(TRIES):
            prefix = os.pread(descriptor, PLAN_PREFIX.size, header.plan_offset)
            if len(prefix) < PLAN_PREFIX.size:
                return
            sequence, length, checksum = PLAN_PREFIX.unpack(prefix)
            if sequence in (0, self._plan_sequence) or length > header.plan_size - PLAN_PREFIX.size:
                return
            data = os.pread(descriptor, length, header.plan_offset + PLAN_PREFIX.size)
            if sequence % 2 == 0 and len(data) == length and zlib.crc32(data) == checksum:
                self._plan, self._plan_sequence = data, sequence
                return

    def _readers(self, header: RingHeader) -> tuple[RegionReader, RegionReader, RegionReader]:
        if self._regions is not None and self._regions_of is header:
            return self._regions
        regions = (header.samples, header.steps, header.events)
        if self._regions is None or tuple(reader.region for reader in self._regions) != regions:
            samples, steps, events = regions
            self._regions = (
                RegionReader(samples, NEWEST),
                RegionReader(steps, RECENT),
                RegionReader(events, MAX_RECORDS),
            )
        self._regions_of, self._end = header, max(region.end for region in regions)
        return self._regions


def _open(path: str) -> int:
    """A descriptor; one that leaves the time of the last access alone, where the owner of the file asks.

    To note that time costs more than to read a record.
    """
    try:
        return os.open(path, _FLAGS | _QUIETLY)
    except PermissionError:
        return os.open(path, _FLAGS)


_FAULTS: Final = {
    errno.ENOENT: Fault.MISSING,
    errno.ELOOP: Fault.SYMLINK,
    errno.EISDIR: Fault.NOT_A_FILE,
    errno.ENXIO: Fault.NOT_A_FILE,
    errno.ENODEV: Fault.NOT_A_FILE,
}
