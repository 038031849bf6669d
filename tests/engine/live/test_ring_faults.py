"""Every way a file can fail to be a ring is a value, never an exception and never a wait."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager

import pytest
from live_images import damaged, full_ring

from scaletui_engine.live.contract import contract
from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.header import MAX_FILE
from scaletui_engine.live.process import Host
from scaletui_engine.live.record import parse_record
from scaletui_engine.live.ring import RingReader, RingReading
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store
from scaletui_probe.layout import HEADER_CRC_OFFSET, HEADER_SIZE, MEASURES, RECORD_SIZE, VERSION

OWNER = os.geteuid()
S = 1_000_000_000
HOST = Host("boot-a", "node-a")


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
MOST_MEMORY = 200 << 20


@contextmanager
def no_more_memory_than(most):
    """An allocation that takes the process further than that fails."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_ten_thousand_fuzzed_rings_are_faults_or_jobs_within_200_mb(folder):
    """All the way to what is printed of a job; by a viewer that begins, or that followed the file before."""
    dice, ring = random.Random(20240607), full_ring()
    moment, outcomes, source = Moment(S, S), Counter(), RingSource(str(folder), HOST)
    with open(folder / "r00000.p1.1.ring", "wb", buffering=0) as file, no_more_memory_than(MOST_MEMORY):
        for _ in range(FUZZED):
            image = damaged(dice, ring)
            file.truncate(len(image))
            os.pwrite(file.fileno(), image, 0)
            if dice.random() < 0.7:
                source.close()
                source = RingSource(str(folder), HOST)
            update = source.poll(moment)
            found = contract(Store(HOST).take(update, moment))
            assert len(found["jobs"]) + len(found["unreadable"]) == 1
            outcomes.update(
                ("fault",) if update.faults else [str(rank.get("step")) for rank in ranks_of(found)]
            )
    source.close()
    assert min(outcomes["fault"], outcomes["5"]) > FUZZED // 4, outcomes
    assert str(2**64 - 1) in outcomes, "a step of a record that was not whole in sense, but in its checksum"


def ranks_of(found):
    return [rank for job in found["jobs"] for rank in job["ranks"]]


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
        try:
            with open(path, "rb", buffering=0) as file:
                whole, torn = _read_often(file.fileno())
        finally:
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
