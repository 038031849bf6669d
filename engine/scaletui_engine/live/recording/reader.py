"""Reads a recording: any look of it by its number, in memory that is bounded by one stretch of looks."""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, cast

from scaletui_engine.live.recording.checked import items_of, table_of, text_of
from scaletui_engine.live.recording.fault import DamageError, RecordingError
from scaletui_engine.live.recording.index import Index, index_of, read_block
from scaletui_engine.live.recording.layout import (
    MAGIC,
    MOST_BYTES,
    MOST_SHARED,
    MOST_STRETCH,
    START,
    VERSION,
)
from scaletui_engine.live.recording.packing import loaded, unpacked
from scaletui_engine.live.recording.schema import Schema

if TYPE_CHECKING:
    from types import TracebackType
    from typing import BinaryIO

    from scaletui_engine.live.recording.marks import Mark
    from scaletui_engine.live.snapshot import Snapshot

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
KEPT: Final = 64 << 20
"""Unpacked bytes that the kept looks of a stretch were made from; with more only the last look is kept."""


class Recording:
    """A file of looks, read only. Every method raises RecordingError for a file that is not sound."""

    def __init__(self, path: str) -> None:
        """Open it and find its blocks."""
        self.path = path
        self._file = _opened(path)
        try:
            self._index = self._indexed()
            self._schema = Schema(_classes(self._index.schema), self)
            self._stretch = -1
            self._first_kept = 0
            self._looks: list[Snapshot] = []
            self._raw = b""
            self._bytes = self._shared_bytes = 0
            self._shared: dict[int, object] = {}
            self.first = self.look(0)
        except DamageError as damage:
            self._file.close()
            raise RecordingError(f"{path}: {damage}") from damage
        except (RecordingError, OSError):
            self._file.close()
            raise

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def looks(self) -> int:
        """How many there are; at least one."""
        return len(self._index.offsets)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What happened, in the order of time."""
        return tuple(self._index.marks)

    @property
    def damage(self) -> str:
        """Why it ends before the file does; empty where it does not."""
        return self._index.damage

    @property
    def duration_s(self) -> float:
        """From the first look to the last."""
        return self.time_s(self.looks - 1)

    def time_s(self, number: int) -> float:
        """Seconds from the first look to that one."""
        times = self._index.times_ns
        return (times[number] - times[0]) / 1e9

    def position_s(self, monotonic_ns: int) -> float:
        """Seconds from the first look to a moment of the recorded clock."""
        return (monotonic_ns - self._index.times_ns[0]) / 1e9

    def number_at(self, position_s: float) -> int:
        """The last look that was there so many seconds after the first."""
        times = self._index.times_ns
        return max(bisect_right(times, times[0] + round(position_s * 1e9)) - 1, 0)

    def look(self, number: int) -> Snapshot:
        """The look of that number, from 0; IndexError where there is none."""
        if not 0 <= number < self.looks:
            raise IndexError(number)
        place = bisect_right(self._index.wholes, number) - 1
        try:
            return self._look(place, number - self._index.wholes[place])
        except DamageError as damage:
            raise RecordingError(f"{self.path}: look {number}: {damage}") from damage
        except OSError as error:
            raise RecordingError(f"{self.path}: {os.strerror(error.errno or 0)}") from error

    def value_of(self, number: int) -> object:
        """A shared value."""
        if not 0 <= number < len(self._index.values):
            raise DamageError(f"there is no value {number}")
        if number not in self._shared:
            self._shared[number] = self._read_value(number)
        return self._shared[number]

    def number_of(self, value: object) -> int:
        """Never asked of a reader."""
        raise LookupError(value)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _indexed(self) -> Index:
        size = os.fstat(self._file.fileno()).st_size
        if size > MOST_BYTES:
            raise RecordingError(f"{self.path} has {size} bytes, and may have {MOST_BYTES}")
        start = self._file.read(START.size)
        if len(start) < START.size or not start.startswith(MAGIC):
            raise DamageError("no recording: its first bytes are not a recording's")
        version = START.unpack(start)[1]
        if version != VERSION:
            raise DamageError(f"a recording of version {version}, this reader knows {VERSION}")
        index = index_of(self._file, START.size, size)
        if not index.offsets:
            raise DamageError("it holds no whole look" + (f": {index.damage}" if index.damage else ""))
        return index

    def _look(self, place: int, steps: int) -> Snapshot:
        """The look `steps` changes behind the whole one in that place."""
        if place != self._stretch or self._first_kept > steps:
            self._begin(place)
        while self._first_kept + len(self._looks) <= steps:
            number = self._index.wholes[place] + self._first_kept + len(self._looks)
            change = self._payload(number, self._raw)
            self._keep(cast("Snapshot", self._schema.snapshot.applied(self._looks[-1], change)))
        return self._looks[steps - self._first_kept]

    def _begin(self, place: int) -> None:
        """Forget the stretch before, and keep the whole look that begins this one."""
        self._looks, self._stretch, self._first_kept = [], -1, 0
        self._bytes = self._shared_bytes = 0
        self._shared = {}
        whole = self._payload(self._index.wholes[place], b"")
        self._keep(cast("Snapshot", self._schema.snapshot.value(whole)))
        self._stretch = place

    def _keep(self, look: Snapshot) -> None:
        if self._looks and self._bytes * (len(self._looks) + 1) > KEPT:
            self._first_kept += len(self._looks)
            self._looks = []
        self._looks.append(look)

    def _payload(self, number: int, before: bytes) -> object:
        _, payload = read_block(self._file, self._index.offsets[number])
        self._raw = unpacked(payload, before)
        self._bytes += len(self._raw)
        if self._bytes > MOST_STRETCH:
            raise DamageError(f"a stretch of more than {MOST_STRETCH} bytes")
        return loaded(self._raw)

    def _read_value(self, number: int) -> object:
        _, payload = read_block(self._file, self._index.values[number])
        raw = unpacked(payload)
        self._shared_bytes += len(raw)
        if self._shared_bytes > MOST_SHARED:
            raise DamageError(f"shared values of more than {MOST_SHARED} bytes")
        return self._schema.shared.value(loaded(raw))


def _opened(path: str) -> BinaryIO:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise RecordingError(f"{path} is a link; links are not followed") from error
        raise OSError(error.errno, error.strerror, path) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordingError(f"{path} is not a file")
    return open(descriptor, "rb")


def _classes(schema: object) -> dict[str, list[str]]:
    """Class -> fields, as the file's first block tells them. Raises DamageError."""
    classes = table_of(table_of(schema, "a schema").get("classes"), "a schema")
    return {name: [text_of(field) for field in items_of(fields)] for name, fields in classes.items()}
