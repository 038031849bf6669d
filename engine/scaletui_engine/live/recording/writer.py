"""Writes what a viewer sees into a file, look by look, so that nothing but the last one can be lost."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.history import RECENT
from scaletui_engine.live.recording.fault import RecordingError
from scaletui_engine.live.recording.layout import (
    MAGIC,
    MOST_BYTES,
    MOST_PACKED,
    MOST_STRETCH,
    START,
    VERSION,
    Block,
    changes_between,
    kept_steps,
)
from scaletui_engine.live.recording.marks import marks_between
from scaletui_engine.live.recording.packing import Stamp, dumped, packed, sealed
from scaletui_engine.live.recording.schema import Schema, own_classes

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import JobView, Snapshot

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
QUIET_NS: Final = 5_000_000_000
"""A look that shows nothing new is recorded this often: between them only ages grow."""


class Recorder:
    """One file that looks are appended to. Not for more than one thread.

    Every method raises OSError where the disk is full or gone, and RecordingError where the file or a look
    would become larger than any reader takes; the file is whole up to there.
    """

    def __init__(self, path: str, recorded_by: str = "") -> None:
        """Create the file, which must not exist and is never reached through a link."""
        try:
            self._descriptor = os.open(path, _FLAGS, 0o600)
        except FileExistsError as error:
            raise RecordingError(f"{path} exists already: a recording overwrites nothing") from error
        self.path = path
        self.bytes = 0
        self.looks = 0
        self._recorded_by = recorded_by
        self._schema = Schema(own_classes(), self)
        self._numbers: dict[int, tuple[object, int]] = {}
        self._values = 0
        self._stamp = Stamp(0, 0)
        self._last: Snapshot | None = None
        self._taken: Snapshot | None = None
        self._raw = b""
        self._changes = 0
        self._stretch = 0

    def take(self, look: Snapshot) -> None:
        """Append a look, unless nothing is new in it and the last one is not old."""
        if self._taken is not None and _is_quiet(self._taken, look):
            return
        before, self._taken = self._taken, look
        self._stamp = Stamp(look.moment.monotonic_ns, look.moment.wall_ns)
        if not self.bytes:
            self._begin()
        self._write_look(_shortened(look))
        for mark in marks_between(before, look):
            self._append(Block.MARK, packed(dumped([mark.job, mark.rank, str(mark.kind), mark.word])))

    def close(self) -> None:
        """No more looks."""
        os.close(self._descriptor)

    def number_of(self, value: object) -> int:
        """The number of a shared value; one that is new is written first."""
        known = self._numbers.get(id(value))
        if known is None:
            known = (value, self._values)
            self._numbers[id(value)] = known
            self._values += 1
            self._append(Block.VALUE, packed(_bounded(dumped(self._schema.shared.full(value)))))
        return known[1]

    def value_of(self, number: int) -> object:
        """Never asked of a writer."""
        raise LookupError(number)

    @property
    def shared_values(self) -> int:
        """How many shared values it holds on to; for as long as a look refers to them."""
        return len(self._numbers)

    def _begin(self) -> None:
        self._write(START.pack(MAGIC, VERSION))
        schema = {"classes": own_classes(), "recorded_by": self._recorded_by}
        self._append(Block.SCHEMA, packed(dumped(schema)))

    def _write_look(self, look: Snapshot) -> None:
        if self._last is None or self._is_long(look):
            self._forget(look)
            raw = _bounded(dumped(self._schema.snapshot.full(look)))
            kind, payload = Block.WHOLE, packed(raw)
            self._changes = self._stretch = 0
        else:
            raw = _bounded(dumped(self._schema.snapshot.edit(self._last, look)))
            kind, payload = Block.CHANGE, packed(raw, self._raw)
            self._changes += 1
        self._append(kind, payload)
        self._last, self._raw = look, raw
        self._stretch += len(raw)
        self.looks += 1

    def _is_long(self, look: Snapshot) -> bool:
        """Whether it is time for a whole look."""
        ranks = sum(len(job.ranks) for job in look.jobs)
        return self._changes >= changes_between(ranks) or self._stretch > MOST_STRETCH - 2 * MOST_PACKED

    def _forget(self, look: Snapshot) -> None:
        """Let go of shared values that no look refers to any more."""
        used = {id(rank.plan) for job in look.jobs for rank in job.ranks}
        self._numbers = {key: known for key, known in self._numbers.items() if key in used}

    def _append(self, kind: Block, payload: bytes) -> None:
        self._write(sealed(kind, payload, self._stamp))

    def _write(self, data: bytes) -> None:
        """One write for one block; the system may take less of it only when the disk is full."""
        if self.bytes + len(data) > MOST_BYTES:
            raise RecordingError(f"{self.path} has {self.bytes} bytes, and may have {MOST_BYTES}")
        if os.write(self._descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
        self.bytes += len(data)


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_PACKED:
        raise RecordingError(f"a look of {len(data)} bytes is larger than {MOST_PACKED}")
    return data


def _is_quiet(last: Snapshot, look: Snapshot) -> bool:
    """Whether nothing but times is different, and not much of that."""
    passed_ns = look.moment.monotonic_ns - last.moment.monotonic_ns
    return passed_ns < QUIET_NS and look.jobs == last.jobs and _timeless(look) == _timeless(last)


def _timeless(look: Snapshot) -> tuple[object, ...]:
    """Everything in a look but its jobs and when somebody last answered."""
    sources = [(source.name, source.fault) for source in look.sources]
    return look.places, look.faults, sources, [replace(driver, read_ns=0) for driver in look.drivers]


def _shortened(look: Snapshot) -> Snapshot:
    """The look with shorter curves where there are very many ranks, so that a whole one fits its block."""
    most = kept_steps(sum(len(job.ranks) for job in look.jobs))
    if most == RECENT:
        return look
    return replace(look, jobs=tuple(_shorter(job, most) for job in look.jobs))


def _shorter(job: JobView, most: int) -> JobView:
    return replace(job, ranks=tuple(replace(rank, history=rank.history[-most:]) for rank in job.ranks))
