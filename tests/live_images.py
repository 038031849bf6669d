"""Rings as bytes, written by the probe's own encoder where that is what counts; sound and damaged ones."""

from __future__ import annotations

import json
import os
import struct
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from live_rings import plan_of

from scaletui_probe.header import Header, encode_header
from scaletui_probe.layout import (
    HEADER,
    HEADER_CRC_OFFSET,
    HEADER_FIELDS,
    HEADER_SIZE,
    MEASURES,
    PLAN_PREFIX,
    RECORD_SIZE,
    Event,
    Kind,
    Mode,
)
from scaletui_probe.record import Measures, Record, encode

if TYPE_CHECKING:
    from random import Random

Regions = tuple[tuple[Record, ...], tuple[Record, ...], tuple[Record, ...]]
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
    records: Regions = field(default=((), (), ()))

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


NUMBERS = (
    "version", "byte_order_mark", "header_size", "record_size", "plan_offset", "plan_size", "samples_offset",
    "samples_capacity", "steps_offset", "steps_capacity", "events_offset", "events_capacity", "mode", "uid",
    "micro_batch", "pid", "pid_start_ticks", "parent_pid", "created_monotonic_ns", "interval_ns", "rank",
    "world_size", "local_world_size", "attempt", "device_index", "sequence_length", "created_wall_ns",
)  # fmt: skip
EDGES = (0, 1, 2, 4095, 4096, 2**31 - 1, 2**31, 2**32 - 1)


def full_ring() -> SmallRing:
    """A small ring with something in every region, and a plan."""
    steps = tuple(
        record(Kind.STEP, n, step=n, step_ns=n, weights_host=60, counted_at_step=n) for n in range(6)
    )
    samples = tuple(record(at_ns=n, step=n, host_rss=n, weights_host=60) for n in range(6))
    events = tuple(record(Kind.EVENT, n)._replace(event=event) for n, event in enumerate(Event))
    plan = json.dumps(plan_of(0, 2)).encode()
    return SmallRing(plan=plan, records=(samples, steps, events))


def damaged(dice: Random, ring: SmallRing) -> bytes:
    """Bytes at random, a cut, a number of the header or of a record changed with checksums that are right
    again, a plan of which a character is another, or bytes changed in place."""
    good = ring.image()
    kind = dice.randrange(7)
    if kind == 0:
        return dice.randbytes(dice.randrange(len(good)))
    if kind == 1:
        return good[: dice.randrange(len(good))]
    if kind == 2:
        name = dice.choice(NUMBERS)
        return ring.image(**{name: _fitting(name, dice.choice((*EDGES, dice.randrange(2**20))))})
    if kind == 3:
        return replace(ring, plan=_edited(dice, ring.plan)).image()
    if kind == 4:
        return replace(ring, records=_strange(dice, ring.records)).image()
    return _edited(dice, good, start=0 if kind == 5 else HEADER_SIZE, most=40)


def _fitting(name: str, number: int) -> int:
    """The number that a field of the header holds when the low bits of another are written to it."""
    code = next(item.code for item in HEADER_FIELDS if item.name == name)
    size = struct.calcsize(f"<{code}")
    return int(struct.unpack(f"<{code}", number.to_bytes(8, "little")[:size])[0])


def _edited(dice: Random, data: bytes, start: int = 0, most: int = 2) -> bytes:
    image = bytearray(data)
    for _ in range(dice.randrange(1, most)):
        image[dice.randrange(start, len(image))] = dice.randrange(256)
    return bytes(image)


def _strange(dice: Random, regions: Regions) -> Regions:
    """Every record with measures, times and an event of any size."""

    def changed(old: Record) -> Record:
        measures = Measures()
        measures.put({name: dice.choice((*EDGES, 2**63, 2**64 - 1)) for name in dice.sample(MEASURES, 9)})
        times: dict[str, Any] = {
            name: dice.choice((0, 5, 2**63, 2**64 - 1)) for name in ("monotonic_ns", "wall_ns")
        }
        return old._replace(measures=measures, event=dice.choice(tuple(Event)), **times)

    samples, steps, events = (tuple(map(changed, region)) for region in regions)
    return samples, steps, events
