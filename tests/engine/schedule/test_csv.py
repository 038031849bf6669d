"""PyTorch's CSV: its dialects, what it forgives and what it refuses, and that it comes back unchanged."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from scaletui_engine.errors import ParseError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.interchange.dialect import Dialect
from scaletui_engine.schedule.lowering import lower
from scaletui_engine.schedule.registry import entry, schedule_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule


@pytest.mark.parametrize("name", schedule_names())
@pytest.mark.parametrize("lowered", [False, True], ids=["compute_only", "compute_comms"])
def test_what_is_written_is_read_back(name: str, lowered: bool, make: Callable[..., Schedule]) -> None:
    schedule = make(name, 4, 8)
    schedule = lower(schedule) if lowered else schedule
    found = read_csv("\r\n".join(csv_lines(schedule)), replicas=name == "dualpipe")
    assert list(csv_lines(found.schedule)) == list(csv_lines(schedule))
    assert [row.tolist() for row in found.schedule.rows] == [row.tolist() for row in schedule.rows]
    assert found.lowered is lowered
    assert found.dialect is Dialect.CURRENT
    assert found.schedule.stages == entry(name).placement(4, schedule.shape.chunks).stages


@pytest.mark.parametrize(
    ("text", "dialect", "lines"),
    [
        ("2BW0,3B0,3W0,2F0,3F0,0F0,1F0,0BW0,1BW0", Dialect.B_AND_BW, "2B0,3I0,3W0,2F0,3F0,0F0,1F0,0B0,1B0"),
        ("0F0,0B0,0W0", Dialect.B_AND_BW, "0F0,0I0,0W0"),
        ("0F0,0B0,0F1,0I1,0W1", Dialect.CURRENT, "0F0,0B0,0F1,0I1,0W1"),
        ("F0_s0,F1_s0,B0_s0,B1_s0", Dialect.UNDERSCORE, "0F0,0F1,0B0,0B1"),
        ("F0_s0,B0_s0,W0_s0", Dialect.UNDERSCORE, "0F0,0I0,0W0"),
        (" 0F0 ,  0B0 ,, ", Dialect.CURRENT, "0F0,0B0"),
        ('"0F0","0B0"', Dialect.CURRENT, "0F0,0B0"),
        ("\ufeff0F0,0B0\r\n", Dialect.CURRENT, "0F0,0B0"),
        (
            "( 0F1 ; 1B0 ) OVERLAP_F_B,0F0,1F0,1F1,0B0,0B1,1B1",
            Dialect.CURRENT,
            "(0F1;1B0)OVERLAP_F_B,0F0,1F0,1F1,0B0,0B1,1B1",
        ),
    ],
)
def test_dialect(text: str, dialect: Dialect, lines: str) -> None:
    found = read_csv(text)
    assert found.dialect is dialect
    assert list(csv_lines(found.schedule)) == [lines]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0F0,0B0\n1F0,1G0", r"line 2, column 2: '1G0' has the unknown kind 'G'"),
        ("0F0x,0B0", r"line 1, column 1: '0F0x' is not an action"),
        ("0F0,0B", r"line 1, column 2: '0B' lacks its microbatch: wanted 0B0"),
        (
            "0F0,0UNSHARD3,0B0",
            r"line 1, column 2: '0UNSHARD3' has a microbatch, but UNSHARD is of a whole stage",
        ),
        ("0F0,,F0", r"line 1, column 3: 'F0' is not an action"),
        ("(0F0)OVERLAP_F_B", r"joins 1 actions, not 2"),
        ("(0B0;0F1)OVERLAP_F_B", r"does not join a forward and a backward, in this order"),
        ("0BW0,0I1,0W1,0F0,0F1", r"column 1: '0BW0' is the whole backward of 2024's letters, but I"),
        ("0F0,0B9999999", r"column 2: '0B9999999' is out of bounds"),
        ("99999F0,0B0", r"out of bounds: stages < 65536"),
        ("", r"the file has no action"),
        (",,\n,", r"the file has no action"),
        ("0SEND_F0\n1RECV_F0", r"the file has no F, I, W or B"),
        ("\x00\x01PNG", r"line 1, column 1: .* is not an action"),
    ],
    ids=repr,
)
def test_what_is_not_a_schedule(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_csv(text)


def test_idle_cells_keep_their_column() -> None:
    found = read_csv("0F0,0F1,,0B0,0B1\n,1F0,1B0,1F1,1B1")
    assert found.columns == ((0, 1, 3, 4), (1, 2, 3, 4))


def test_torchtitan_custom_schedule() -> None:
    """pytorch/torchtitan tests/assets/custom_schedule.csv: all forwards, then I and W in groups of two."""
    rows = []
    for near, far in ((0, 2), (1, 3)):
        row = [f"{stage}F{k}" for stage in (near, far) for k in range(8)]
        for pair in range(0, 8, 2):
            row += [f"{stage}{kind}{k}" for stage in (far, near) for k in (pair, pair + 1) for kind in "IW"]
        rows.append(",".join(row))
    text = "\n".join(rows)
    assert (
        sha256(text.encode()).hexdigest()
        == "75d86b501e18cbb3434456c5801cac6ca7d2ad384e050504103328b2f079cbf9"
    )
    schedule = read_csv(text).schedule
    assert check(schedule) == ()
    assert (schedule.stages, schedule.units, schedule.shape.chunks) == (4, 8, 2)
    assert list(csv_lines(schedule)) == rows


def test_upstream_tiny_golden_of_unshard() -> None:
    """test/distributed/pipelining/test_schedule.py: 0F0,0F1,,0B0,0B1 gains UNSHARD and RESHARD."""
    from scaletui_engine.schedule.lowering.sharded import add_unshard

    row = read_csv("0F0,0F1,,0B0,0B1").schedule
    added = add_unshard(row.rows[0].tolist())
    assert ",".join(str(step) for step in _steps(added)) == "0UNSHARD,0F0,0F1,0B0,0B1,0RESHARD"


def _steps(codes: list[int]) -> list[object]:
    from scaletui_engine.schedule.action import decode_row

    return list(decode_row(codes))
