"""Records, headers and their layout: what is written is what is read, and damage is seen."""

from __future__ import annotations

import numpy as np
import pytest
from probe.workbench import sample_header

from scaletui_probe import layout
from scaletui_probe.header import RingFormatError, decode_header, encode_header
from scaletui_probe.layout import Event, Kind, Reason
from scaletui_probe.record import Measures, Record, decode, encode


def record() -> Record:
    measures = Measures()
    measures.put({"step": 7, "weights_host": 2**40 + 1, "allocated": 0})
    measures.lack("driver", Reason.CPU_JOB)
    return Record(
        kind=Kind.EVENT,
        monotonic_ns=2**50,
        wall_ns=2**60,
        measures=measures,
        event=Event.OOM,
        event_values=(2**33, -1),
        text="OutOfMemoryError",
        unsharded_groups=b"\x05",
        device_index=3,
        errors=1,
        dropped=2,
    )


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        pytest.param(layout.HEADER_FIELDS, layout.HEADER_SIZE, id="header"),
        pytest.param(layout.RECORD_FIELDS, layout.RECORD_SIZE, id="record"),
    ],
)
def test_numpy_sees_the_offsets_of_struct(fields: tuple[layout.Field, ...], size: int) -> None:
    dtype = np.dtype(layout.numpy_fields(fields))
    assert dtype.itemsize == size
    assert len(dtype.names or ()) == len(fields)


def test_a_record_comes_back_as_it_was() -> None:
    found = decode(encode(record(), sequence=8))
    assert found is not None
    sequence, back = found
    assert sequence == 8
    assert back.measures.values == record().measures.values
    same = back.measures
    assert back._replace(unsharded_groups=b"") == record()._replace(measures=same, unsharded_groups=b"")
    assert back.unsharded_groups == b"\x05" + bytes(63)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        pytest.param("weights_host", 2**40 + 1, Reason.AVAILABLE, id="a-number"),
        pytest.param("allocated", 0, Reason.AVAILABLE, id="a-true-zero"),
        pytest.param("driver_free", None, Reason.CPU_JOB, id="not-there"),
    ],
)
def test_what_is_not_available_is_never_zero(name: str, value: int | None, reason: Reason) -> None:
    found = decode(encode(record(), sequence=2))
    assert found is not None
    measures = found[1].measures
    assert (measures.get(name), measures.reason(name)) == (value, reason)


def test_every_measure_has_a_group_of_reasons() -> None:
    assert set(layout.GROUP_OF) == set(layout.MEASURES)
    assert set(layout.GROUP_OF.values()) == set(layout.REASON_GROUPS)
    assert set(layout.REASON_TEXT) == set(Reason)


@pytest.mark.parametrize("position", range(0, layout.RECORD_SIZE, 7))
def test_a_changed_byte_is_seen(position: int) -> None:
    data = bytearray(encode(record(), sequence=8))
    data[position] ^= 0x10
    assert decode(bytes(data)) is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(bytes(layout.RECORD_SIZE), id="never-written"),
        pytest.param(encode(record(), sequence=7), id="being-written"),
    ],
)
def test_a_slot_without_a_whole_record_is_none(data: bytes) -> None:
    assert decode(data) is None


def test_a_header_comes_back_as_it_was() -> None:
    written = sample_header()._replace(command="python train.py " + "x" * 3000, host="cômputo")
    back = decode_header(encode_header(written, sequence=2))
    assert back.command == written.command[:2047]
    assert back._replace(command="") == written._replace(command="")


def test_a_text_is_cut_at_a_whole_character() -> None:
    back = decode_header(encode_header(sample_header()._replace(job_id="é" * 200), sequence=2))
    assert back.job_id == "é" * 63


@pytest.mark.parametrize(
    ("position", "change", "message"),
    [
        pytest.param(0, b"X", "magic", id="not-a-ring"),
        pytest.param(8, b"\x09", "version 9 is not the 1", id="another-version"),
        pytest.param(12, b"\x01\x02\x03\x04", "byte_order_mark", id="the-other-byte-order"),
        pytest.param(200, b"\xff", "being written or broken", id="a-changed-byte"),
        pytest.param(16, b"\x03", "being written or broken", id="being-written"),
        pytest.param(44, b"\xff\xff\xff\x7f", "samples_capacity", id="an-oversized-count"),
    ],
)
def test_a_header_that_is_not_whole_is_refused(position: int, change: bytes, message: str) -> None:
    data = bytearray(encode_header(sample_header(), sequence=2))
    data[position : position + len(change)] = change
    with pytest.raises(RingFormatError, match=message):
        decode_header(bytes(data))


def test_a_short_file_is_refused() -> None:
    with pytest.raises(RingFormatError, match="10 bytes < the 4096"):
        decode_header(bytes(10))
