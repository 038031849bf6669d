"""Rings as bytes and as files, written by the probe's own encoder where that is what counts."""

from __future__ import annotations

import os
import select
import struct
import time
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store
from scaletui_probe.header import Header, encode_header
from scaletui_probe.layout import (
    HEADER,
    HEADER_CRC_OFFSET,
    HEADER_FIELDS,
    HEADER_SIZE,
    PLAN_PREFIX,
    RECORD_SIZE,
    Kind,
    Mode,
)
from scaletui_probe.record import Measures, Record, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scaletui_engine.live.snapshot import Snapshot

PATIENCE_S = 180.0
"""How long a real job may take on a busy machine; nothing is asserted about it."""

HEADER_OF_RANK_0 = Header(
    mode=Mode.THREAD, uid=os.geteuid(), rank=0, local_rank=0, world_size=2, local_world_size=2, attempt=0,
    device_index=-1, micro_batch=0, sequence_length=0, pid=4_000_001, pid_start_ticks=77,
    parent_pid=4_000_000, parent_start_ticks=70, created_monotonic_ns=1_000, created_wall_ns=2_000,
    interval_ns=500_000_000, device_type="cpu", device_uuid="", boot_id="boot-a", torch_version="2.13.0",
    python_version="3.11.7", job_id="job-1",
    host="node-a", slurm_id="", slurm_nodes="", working_folder="/home/u",
    command="python train.py",
)  # fmt: skip


@dataclass(frozen=True)
class SmallRing:
    """A ring of few records: the reader takes capacities from the header, so thousands of these are cheap."""

    header: Header = HEADER_OF_RANK_0
    plan: bytes = b"{}"
    plan_size: int = 4096
    capacities: tuple[int, int, int] = (4, 4, 2)
    records: tuple[tuple[Record, ...], tuple[Record, ...], tuple[Record, ...]] = field(default=((), (), ()))

    def image(self, **fields: int | bytes) -> bytes:
        """The file's bytes; `fields` replace fields of the header, and its checksum is made right again."""
        samples = HEADER_SIZE + self.plan_size
        steps = samples + self.capacities[0] * RECORD_SIZE
        events = steps + self.capacities[1] * RECORD_SIZE
        geometry: dict[str, int | bytes] = {
            "plan_size": self.plan_size,
            "samples_offset": samples, "samples_capacity": self.capacities[0],
            "steps_offset": steps, "steps_capacity": self.capacities[1],
            "events_offset": events, "events_capacity": self.capacities[2],
        }  # fmt: skip
        head = header_with(encode_header(self.header, 2), **{**geometry, **fields})
        plan = PLAN_PREFIX.pack(2, len(self.plan), zlib.crc32(self.plan)) + self.plan
        body = b"".join(map(self._region, self.records, self.capacities))
        return head + plan.ljust(self.plan_size, b"\0") + body

    @staticmethod
    def _region(records: tuple[Record, ...], capacity: int) -> bytes:
        slots = [bytes(RECORD_SIZE)] * capacity
        for write, record in enumerate(records):
            slots[write % capacity] = encode(record, 2 * (write + 1))
        return b"".join(slots)


def header_with(head: bytes, **fields: int | bytes) -> bytes:
    """A header with some fields replaced and the right checksum."""
    values = list(HEADER.unpack(head))
    for name, value in fields.items():
        values[[item.name for item in HEADER_FIELDS].index(name)] = value
    body = HEADER.pack(*values)[:HEADER_CRC_OFFSET]
    return body + struct.pack("<I", zlib.crc32(body))


def record(kind: Kind = Kind.SAMPLE, at_ns: int = 5_000, **measures: int) -> Record:
    """A record with these measures available and no others."""
    taken = Measures()
    taken.put(measures)
    return Record(kind=kind, monotonic_ns=at_ns, wall_ns=at_ns + 1_000, measures=taken)


@pytest.fixture
def ring() -> SmallRing:
    """A small ring with nothing in it but a header and an empty plan."""
    return SmallRing()


@pytest.fixture
def make_record() -> Callable[..., Record]:
    """`record(kind, at_ns, **measures)`."""
    return record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that only its owner may look into."""
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def put(folder: Path) -> Callable[..., str]:
    """Write a ring's bytes under its name in the folder and give the path."""

    def write(image: bytes, name: str = "r00000.p1.1.ring") -> str:
        path = folder / name
        path.write_bytes(image)
        path.chmod(0o600)
        return str(path)

    return write


@pytest.fixture
def renamed() -> Callable[..., Header]:
    """The header of rank 0 with some fields replaced."""

    def change(**fields: object) -> Header:
        return HEADER_OF_RANK_0._replace(**fields)

    return change


@pytest.fixture
def with_records(ring: SmallRing) -> Callable[..., SmallRing]:
    """A small ring with these samples, steps and events."""

    def fill(
        samples: tuple[Record, ...] = (), steps: tuple[Record, ...] = (), events: tuple[Record, ...] = ()
    ) -> SmallRing:
        return replace(ring, records=(samples, steps, events))

    return fill


@pytest.fixture
def look_at_each() -> Callable[[Path], list[Snapshot]]:
    """One look at a folder, a snapshot for each ring, as if it were the only one."""

    def once(folder: Path) -> list[Snapshot]:
        source = RingSource(str(folder))
        moment = Moment(time.monotonic_ns(), time.time_ns())
        update = source.poll(moment)
        source.close()
        return [Store(source.host).take(replace(update, rings=(ring,)), moment) for ring in update.rings]

    return once


@pytest.fixture
def watch() -> Iterator[Callable[[Path, Callable[[Snapshot], bool]], Snapshot]]:
    """`watch(folder, condition)`: look again whenever a process ends, and every 50 ms, until it holds.

    One viewer for the whole test, as a person has one.
    """
    sources: dict[Path, tuple[RingSource, Store]] = {}

    def until(folder: Path, condition: Callable[[Snapshot], bool]) -> Snapshot:
        if folder not in sources:
            source = RingSource(str(folder))
            sources[folder] = source, Store(source.host)
        source, store = sources[folder]
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            moment = Moment(time.monotonic_ns(), time.time_ns())
            snapshot = store.take(source.poll(moment), moment)
            if condition(snapshot):
                return snapshot
            poller = select.poll()
            for descriptor in source.descriptors():
                poller.register(descriptor, select.POLLIN)
            poller.poll(50)
        pytest.fail(f"never came true: {snapshot}")

    yield until
    for source, _ in sources.values():
        source.close()
