"""The header of a ring: who writes it and where the rest lies."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

from scaletui_engine.live.fault import Fault
from scaletui_engine.live.fields import Fields, index_of
from scaletui_probe.layout import (
    BYTE_ORDER_MARK,
    HEADER,
    HEADER_CRC_OFFSET,
    HEADER_FIELDS,
    HEADER_SIZE,
    MAGIC,
    PLAN_PREFIX,
    RECORD_SIZE,
    VERSION,
)

MAX_RECORDS: Final = 8192
"""More records than any region may have: a count beyond it is a damaged or hostile file."""
MAX_PLAN: Final = 1 << 20
MAX_FILE: Final = HEADER_SIZE + MAX_PLAN + 3 * MAX_RECORDS * RECORD_SIZE

_INDEX: Final = index_of(HEADER_FIELDS)
_REVERSED: Final = int.from_bytes(BYTE_ORDER_MARK.to_bytes(4, "little"), "big")


@dataclass(frozen=True, slots=True)
class Region:
    """`capacity` records from `offset` on."""

    offset: int
    capacity: int

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.capacity * RECORD_SIZE


@dataclass(frozen=True, slots=True)
class Process:
    """A process for ever: a pid is used again, a pid with its start time is not."""

    pid: int
    start_ticks: int


@dataclass(frozen=True, slots=True)
class Identity:
    """Who writes the ring, in texts that are safe to print."""

    job_id: str
    attempt: int
    rank: int
    local_rank: int
    world_size: int
    local_world_size: int
    process: Process
    launcher: Process
    boot_id: str
    host: str
    uid: int
    command: str
    working_folder: str
    device_type: str
    device_uuid: str
    device_index: int
    torch_version: str
    python_version: str
    slurm_id: str
    slurm_nodes: str
    micro_batch: int
    sequence_length: int


@dataclass(frozen=True, slots=True)
class RingHeader:
    """A checked copy of the header."""

    sequence: int
    plan_offset: int
    plan_size: int
    samples: Region
    steps: Region
    events: Region
    mode: int
    created_monotonic_ns: int
    created_wall_ns: int
    interval_ns: int
    identity: Identity


def parse_header(data: bytes, file_size: int) -> RingHeader | tuple[Fault, str]:
    """The header in the file's first bytes, or what is wrong with it and the numbers behind that."""
    if not data:
        return Fault.EMPTY, "0 bytes"
    if len(data) < HEADER_SIZE:
        return Fault.TRUNCATED, f"{len(data)} bytes, a header has {HEADER_SIZE}"
    fields = Fields(_INDEX, HEADER.unpack(data[:HEADER_SIZE]))
    strange = _strange(fields)
    if strange:
        return strange
    sequence = fields.number("sequence")
    if sequence % 2 or zlib.crc32(data[:HEADER_CRC_OFFSET]) != fields.number("crc32"):
        return Fault.TORN, f"sequence {sequence}"
    header = _header(fields)
    return _misfit(fields, header, file_size) or header


def _strange(fields: Fields) -> tuple[Fault, str] | None:
    mark, version = fields.number("byte_order_mark"), fields.number("version")
    if fields.raw("magic") != MAGIC:
        return Fault.NOT_A_RING, ""
    if mark == _REVERSED:
        return Fault.WRONG_ENDIAN, f"byte order mark {mark:#010x}"
    if version != VERSION:
        return Fault.WRONG_VERSION, f"version {version}, this reader knows {VERSION}"
    if mark != BYTE_ORDER_MARK:
        return Fault.NOT_A_RING, f"byte order mark {mark:#010x}"
    return None


def _misfit(fields: Fields, header: RingHeader, file_size: int) -> tuple[Fault, str] | None:
    """Sizes and offsets that do not fit this version or this file."""
    sizes = (fields.number("header_size"), fields.number("record_size"))
    if sizes != (HEADER_SIZE, RECORD_SIZE):
        return Fault.WRONG_LAYOUT, f"header and record of {sizes[0]} and {sizes[1]} bytes"
    regions = (header.samples, header.steps, header.events)
    counts = [region.capacity for region in regions]
    if max(counts) > MAX_RECORDS or header.plan_size > MAX_PLAN:
        return Fault.OVERSIZED, f"{max(counts)} records, plan of {header.plan_size} bytes"
    if min(counts) < 1 or header.plan_size < PLAN_PREFIX.size:
        return Fault.WRONG_LAYOUT, f"{min(counts)} records, plan of {header.plan_size} bytes"
    if min(header.plan_offset, *(region.offset for region in regions)) < HEADER_SIZE:
        return Fault.WRONG_LAYOUT, "a region begins inside the header"
    end = max(header.plan_offset + header.plan_size, *(region.end for region in regions))
    if end > file_size:
        return Fault.TRUNCATED, f"{file_size} bytes, its header speaks of {end}"
    return None


def _header(fields: Fields) -> RingHeader:
    def region(name: str) -> Region:
        return Region(fields.number(f"{name}_offset"), fields.number(f"{name}_capacity"))

    return RingHeader(
        sequence=fields.number("sequence"),
        plan_offset=fields.number("plan_offset"),
        plan_size=fields.number("plan_size"),
        samples=region("samples"),
        steps=region("steps"),
        events=region("events"),
        mode=fields.number("mode"),
        created_monotonic_ns=fields.number("created_monotonic_ns"),
        created_wall_ns=fields.number("created_wall_ns"),
        interval_ns=fields.number("interval_ns"),
        identity=_identity(fields),
    )


def _identity(fields: Fields) -> Identity:
    number, text = fields.number, fields.text
    return Identity(
        job_id=text("job_id"),
        attempt=number("attempt"),
        rank=number("rank"),
        local_rank=number("local_rank"),
        world_size=number("world_size"),
        local_world_size=number("local_world_size"),
        process=Process(number("pid"), number("pid_start_ticks")),
        launcher=Process(number("parent_pid"), number("parent_start_ticks")),
        boot_id=text("boot_id"),
        host=text("host"),
        uid=number("uid"),
        command=text("command"),
        working_folder=text("working_folder"),
        device_type=text("device_type"),
        device_uuid=text("device_uuid"),
        device_index=number("device_index"),
        torch_version=text("torch_version"),
        python_version=text("python_version"),
        slurm_id=text("slurm_id"),
        slurm_nodes=text("slurm_nodes"),
        micro_batch=number("micro_batch"),
        sequence_length=number("sequence_length"),
    )
