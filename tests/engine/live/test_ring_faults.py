"""Every way a file can fail to be a ring is a value, never an exception and never a wait."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys

import pytest

from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.header import MAX_FILE
from scaletui_engine.live.record import parse_record
from scaletui_engine.live.ring import RingReader, RingReading
from scaletui_probe.layout import HEADER_CRC_OFFSET, HEADER_SIZE, MEASURES, RECORD_SIZE, VERSION

OWNER = os.geteuid()


def fault(path: str, owner: int = OWNER) -> Fault:
    outcome = RingReader(path, owner).read()
    assert isinstance(outcome, RingFault), outcome
    return outcome.fault


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"magic": b"SCALETUX"}, Fault.NOT_A_RING),
        ({"byte_order_mark": 0x04030201}, Fault.WRONG_ENDIAN),
        ({"byte_order_mark": 7}, Fault.NOT_A_RING),
        ({"version": VERSION + 1}, Fault.WRONG_VERSION),
        ({"header_size": 512}, Fault.WRONG_LAYOUT),
        ({"record_size": 64}, Fault.WRONG_LAYOUT),
        ({"samples_capacity": 0}, Fault.WRONG_LAYOUT),
        ({"plan_size": 3}, Fault.WRONG_LAYOUT),
        ({"steps_offset": 8}, Fault.WRONG_LAYOUT),
        ({"steps_capacity": 2**32 - 1}, Fault.OVERSIZED),
        ({"plan_size": 2**32 - 1}, Fault.OVERSIZED),
        ({"events_capacity": 4000}, Fault.TRUNCATED),
        ({"samples_offset": 2**32 - 1}, Fault.TRUNCATED),
        ({"sequence": 3}, Fault.TORN),
    ],
    ids=lambda value: str(value),
)
def test_a_header_that_lies(ring, put, fields, expected):
    assert fault(put(ring.image(**fields))) is expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, Fault.EMPTY),
        (1, Fault.TRUNCATED),
        (HEADER_SIZE - 1, Fault.TRUNCATED),
        (HEADER_SIZE, Fault.TRUNCATED),
    ],
)
def test_a_file_that_ends_too_soon(ring, put, size, expected):
    assert fault(put(ring.image()[:size])) is expected


def test_a_wrong_checksum(ring, put):
    image = bytearray(ring.image())
    image[HEADER_CRC_OFFSET] ^= 1
    assert fault(put(bytes(image))) is Fault.TORN


def test_no_file(folder):
    assert fault(str(folder / "none.ring")) is Fault.MISSING


def test_a_link_in_the_place_of_a_ring(ring, put, folder):
    path = put(ring.image())
    os.symlink(path, folder / "link.ring")
    assert fault(str(folder / "link.ring")) is Fault.SYMLINK


def test_a_pipe_does_not_hold_the_reader(folder):
    os.mkfifo(folder / "pipe.ring")
    assert fault(str(folder / "pipe.ring")) is Fault.NOT_A_FILE


def test_a_folder_in_the_place_of_a_ring(folder):
    (folder / "folder.ring").mkdir()
    assert fault(str(folder / "folder.ring")) is Fault.NOT_A_FILE


def test_a_ring_of_another_user(ring, put):
    assert fault(put(ring.image()), owner=OWNER + 1) is Fault.FOREIGN


def test_a_file_larger_than_any_ring_is_not_read(ring, put):
    path = put(ring.image())
    os.truncate(path, MAX_FILE + 1)
    assert fault(path) is Fault.OVERSIZED


def test_a_file_that_is_cut_short_while_it_is_followed(ring, put):
    path = put(ring.image())
    reader = RingReader(path, OWNER)
    assert isinstance(reader.read(), RingReading)
    os.truncate(path, HEADER_SIZE + 10)
    outcome = reader.read()
    assert isinstance(outcome, RingFault)
    assert outcome.fault is Fault.TRUNCATED


FUZZED = 10_000


def test_fuzzed_rings_never_raise_and_never_take_much_memory(with_records, folder, make_record):
    """Bytes and header fields at random, some with a right checksum so that they get past the door."""
    dice = random.Random(20240607)
    records = tuple(make_record(step=n, step_ns=n) for n in range(6))
    ring = with_records(records, records, records)
    good = ring.image()
    path = str(folder / "fuzzed.ring")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reader, outcomes = RingReader(path, OWNER), {RingReading: 0, RingFault: 0}
    for _ in range(FUZZED):
        with open(path, "wb") as file:
            file.write(_mutated(dice, ring, good))
        outcome = reader.read()
        outcomes[type(outcome)] += 1
    assert outcomes[RingReading] > FUZZED // 20
    assert outcomes[RingFault] > FUZZED // 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def _mutated(dice, ring, good):
    kind = dice.randrange(5)
    if kind == 0:
        return dice.randbytes(dice.randrange(len(good)))
    if kind == 1:
        return good[: dice.randrange(len(good))]
    if kind == 2:
        number = dice.choice((0, 1, 4095, 4096, 2**31, 2**32 - 1, dice.randrange(2**20)))
        return ring.image(**{dice.choice(NUMBERS): number})
    image = bytearray(good)
    for _ in range(dice.randrange(1, 40)):
        start = 0 if kind == 3 else HEADER_SIZE
        image[dice.randrange(start, len(image))] = dice.randrange(256)
    return bytes(image)


NUMBERS = (
    "version", "byte_order_mark", "header_size", "record_size", "plan_offset", "plan_size", "samples_offset",
    "samples_capacity", "steps_offset", "steps_capacity", "events_offset", "events_capacity", "mode", "uid",
    "micro_batch", "pid", "pid_start_ticks", "parent_pid", "created_monotonic_ns", "interval_ns",
)  # fmt: skip


HAMMERED = 1_000_000
HAMMER = """
import mmap, os, sys
from scaletui_probe.directory import open_directory
from scaletui_probe.layout import MEASURES, RECORD_SIZE, Kind
from scaletui_probe.record import Measures, Record, encode

def record(number):
    measures = Measures()
    measures.put(dict.fromkeys(MEASURES, number))
    return Record(Kind.STEP, monotonic_ns=number, wall_ns=number, measures=measures)

images = [encode(record(number), 2 * (number + 1)) for number in range(64)]
file = os.open(sys.argv[2], os.O_RDWR)
slot = mmap.mmap(file, RECORD_SIZE)
print("ready", flush=True)
if sys.argv[1] == "in-order":
    while True:
        for image in images:
            os.pwrite(file, (1).to_bytes(8, "little"), 0)
            os.pwrite(file, image, 0)
else:
    while True:
        for image in images:
            slot[256:] = image[256:]
            slot[:256] = image[:256]
"""


@pytest.mark.parametrize("manner", ["in-order", "back-to-front"])
def test_no_torn_record_is_taken_for_a_whole_one_in_a_million_reads(tmp_path, manner):
    """A process hammers one slot: as the probe writes it, and in an order that no lock could save.

    Every number of a record is that of its write, so that a mixture of two shows.
    """
    path = tmp_path / "slot"
    path.write_bytes(bytes(RECORD_SIZE))
    words = [sys.executable, "-c", HAMMER, manner, str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as hammer:
        assert hammer.stdout is not None
        hammer.stdout.readline()
        with open(path, "rb", buffering=0) as file:
            whole, torn = _read_often(file.fileno())
        hammer.kill()
    assert whole + torn == HAMMERED
    assert min(whole, torn) > HAMMERED // 1000, (whole, torn)


def _read_often(file):
    """How many reads gave a record and how many gave none; each record is one that was written."""
    whole = 0
    expected = {number: (number,) * len(MEASURES) for number in range(64)}
    for _ in range(HAMMERED):
        record = parse_record(os.pread(file, RECORD_SIZE, 0))
        if record is None:
            continue
        whole += 1
        found = tuple(map(record.get, MEASURES)) if whole % 50 == 0 else (record.get("step"),)
        assert found == expected[record.write][: len(found)]
        assert record.monotonic_ns == record.wall_ns == record.get(MEASURES[-1]) == record.write
    return whole, HAMMERED - whole
