"""What the reader brings back, read by read."""

from __future__ import annotations

import os

import pytest

from scaletui_engine.live.ring import RingReader, RingReading
from scaletui_probe.directory import open_directory
from scaletui_probe.layout import HEADER_SIZE, RECORD_SIZE, Kind
from scaletui_probe.ring import create_ring

OWNER = os.geteuid()


def read(reader: RingReader) -> RingReading:
    outcome = reader.read()
    assert isinstance(outcome, RingReading), outcome
    return outcome


def test_reads_back_what_the_probe_wrote(folder, renamed, make_record):
    directory = open_directory(str(folder))
    ring = create_ring(directory, renamed(rank=3, command="python 'my train.py'"))
    ring.put_plan({"parameters": []})
    for step in range(1, 4):
        ring.put(make_record(Kind.STEP, at_ns=step, step=step, step_ns=1_000))
    ring.put(make_record(Kind.SAMPLE, at_ns=9, host_rss=12345))
    reading = read(RingReader(str(folder / ring.name), OWNER))
    ring.close()
    os.close(directory)
    assert reading.header.identity.rank == 3
    assert reading.header.identity.command == "python 'my train.py'"
    assert reading.plan == b'{"parameters":[]}'
    assert [record.get("step") for record in reading.steps] == [1, 2, 3]
    assert reading.samples[-1].get("host_rss") == 12345
    assert reading.samples[-1].get("allocated") is None


@pytest.mark.parametrize("batches", [(1, 1, 1), (3, 4, 2), (4, 4, 4), (2, 9, 3), (0, 1, 0, 11)], ids=str)
def test_every_record_comes_once_unless_the_writer_laps_the_reader(folder, renamed, make_record, batches):
    directory = open_directory(str(folder))
    ring = create_ring(directory, renamed())
    reader = RingReader(str(folder / ring.name), OWNER)
    seen, written = [], 0
    for batch in batches:
        for _ in range(batch):
            written += 1
            ring.put(make_record(Kind.STEP, at_ns=written, step=written))
        seen += [record.get("step") for record in read(reader).steps]
    ring.close()
    os.close(directory)
    assert seen == list(range(1, written + 1))


def test_a_lapped_reader_goes_on_with_the_newest_lap(folder, renamed, make_record):
    directory = open_directory(str(folder))
    ring = create_ring(directory, renamed())
    reader = RingReader(str(folder / ring.name), OWNER)
    ring.put(make_record(Kind.SAMPLE, step=1))
    read(reader)
    for step in range(2, 700):
        ring.put(make_record(Kind.SAMPLE, step=step))
    found = [record.get("step") for record in read(reader).samples]
    ring.close()
    os.close(directory)
    assert found[-1] == 699
    assert found == sorted(found)


@pytest.mark.parametrize("damage", [0, 100, RECORD_SIZE - 1], ids=["sequence", "measures", "sequence_end"])
def test_a_torn_record_is_left_out(with_records, put, make_record, damage):
    image = bytearray(with_records(samples=tuple(make_record(step=n) for n in (1, 2, 3))).image())
    newest = HEADER_SIZE + 4096 + 2 * RECORD_SIZE
    image[newest + damage] ^= 0x55
    found = read(RingReader(put(bytes(image)), OWNER)).samples
    assert [record.get("step") for record in found] == [1, 2]


def test_a_header_in_the_making_leaves_the_last_whole_one(ring, put):
    path = put(ring.image())
    reader = RingReader(path, OWNER)
    before = read(reader).header
    with open(path, "r+b") as file:
        file.seek(16)
        file.write((3).to_bytes(8, "little"))
    assert read(reader).header == before


def test_a_plan_in_the_making_leaves_the_last_whole_one(ring, put):
    path = put(ring.image())
    reader = RingReader(path, OWNER)
    assert read(reader).plan == b"{}"
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write((3).to_bytes(8, "little") + b"\xff" * 8)
    assert read(reader).plan == b"{}"


def test_another_file_under_the_same_name_is_read_from_its_beginning(with_records, put, make_record, folder):
    path = put(with_records(samples=(make_record(step=1), make_record(step=2))).image())
    reader = RingReader(path, OWNER)
    read(reader)
    fresh = with_records(samples=(make_record(step=7),)).image()
    (folder / "other").write_bytes(fresh)
    os.replace(folder / "other", path)
    assert [record.get("step") for record in read(reader).samples] == [7]


def test_text_of_a_job_cannot_steer_the_terminal(ring, put, renamed):
    hostile = type(ring)(header=renamed(command="x\x1b]0;owned\x07\u202e", host="a\nb"))
    identity = read(RingReader(put(hostile.image()), OWNER)).header.identity
    assert identity.command.isprintable()
    assert identity.host.isprintable()
    assert "owned" in identity.command
