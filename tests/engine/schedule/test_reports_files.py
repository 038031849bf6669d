"""Public bug reports about files, placement and layers, each a test named after its source."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scaletui_engine.errors import DivisibilityError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.grid import check_times
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.interchange.dialect import Dialect
from scaletui_engine.schedule.interchange.megatron_layout import parse_layout, require_layers, require_ranks
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.placement import PlacementError, require_placement, vee
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import Times
from scaletui_engine.stages import layer_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule

FACTS = json.loads((Path(__file__).parents[2] / "golden" / "pipeline.json").read_text("utf-8"))


def test_torchtitan_774_zbv_with_loop_placement(make: Callable[..., Schedule]) -> None:
    loop = read_csv("\n".join(csv_lines(make("LoopedBFS", 4, 8)))).schedule
    with pytest.raises(PlacementError) as caught:
        require_placement(loop.placement, vee(4), "ZBVZeroBubble")
    assert str(caught.value) == (
        "rank 0 holds stages [0, 4], but ZBVZeroBubble places them as"
        " {0: [0, 7], 1: [1, 6], 2: [2, 5], 3: [3, 4]}"
    )


def test_pytorch_142211_a_file_of_split_backwards() -> None:
    """A loader that knew only B refused I and W."""
    rows = [
        ",".join(
            [
                *(f"{s}F{k}" for s in pair for k in range(8)),
                *(f"{s}{x}{k}" for k in range(8) for s in pair[::-1] for x in "IW"),
            ]
        )
        for pair in ((0, 2), (1, 3))
    ]
    schedule = read_csv("\n".join(rows)).schedule
    assert check(schedule) == ()
    assert (schedule.units, schedule.stages) == (8, 4)


def test_pytorch_68401d25_old_letters(make: Callable[..., Schedule]) -> None:
    """2BW0 is today's 2B0 and 3B0 today's 3I0; translated, the artifact equals the one of bf69c149."""
    today = lower(make("InterleavedZeroBubble", 2, 8), Passes(merge=True, fsdp=False))
    old = [
        [
            cell if "SEND" in cell or "RECV" in cell else cell.replace("B", "BW").replace("I", "B")
            for cell in line.split(",")
        ]
        for line in csv_lines(today)
    ]
    assert {"2BW0", "3B0", "3W0"} <= {cell for row in old for cell in row}
    found = read_csv("\n".join(map(",".join, old)))
    assert found.dialect is Dialect.B_AND_BW
    lines = "\n".join(csv_lines(found.schedule))
    fact = next(
        order for order in FACTS["golden_orders"] if order["name"].startswith("zb1p_2rank_2stagep_comms")
    )
    assert sha256(lines.encode()).hexdigest() == fact["sha256_of_rows_joined_by_newline"]


def test_megatron_468_layers_that_do_not_divide() -> None:
    """80 layers, pp 16, 2 virtual stages silently became 64."""
    with pytest.raises(DivisibilityError, match=r"80 layers / 32 stages = 2\.5"):
        layer_counts(80, 32)
    layout = parse_layout("Et*3|(tt|)*29,m|L")
    assert (len(layout.stages), layout.count("t"), layout.count("m")) == (32, 61, 1)
    assert require_ranks(layout, 16) == 2
    with pytest.raises(DivisibilityError, match="layout holds 61 decoder layers, but the model has 80"):
        require_layers(layout, 80)


def test_piper_14_replicated_stages(make: Callable[..., Schedule]) -> None:
    """DualPipe has every stage on ranks r and p - 1 - r: fine when it is declared."""
    schedule = make("dualpipe", 4, 8)
    assert schedule.placement.ranks_of == ((0, 3), (1, 2), (2, 1), (3, 0))
    assert check(schedule) == ()
    lines = "\n".join(csv_lines(schedule))
    with pytest.raises(PlacementError, match="stage 0 is on rank 0 and on rank 3"):
        read_csv(lines)
    assert check(read_csv(lines, replicas=True).schedule) == ()


def test_abhishekmaiti_1f1b_whose_first_backward_comes_early(make: Callable[..., Schedule]) -> None:
    """P 4, M 8, drawn with B0 of rank 0 right behind F3: 0B0 needs 1B0. The bubble is GPipe's, 3 / 11."""
    slots = Times(backward=(1.0,))
    schedule = make("1f1b", 4, 8)
    timeline = simulate(schedule, slots)
    row = timeline.table.row.tolist()
    starts = [timeline.start[first:stop].tolist() for first, stop in pairwise(row)]
    assert check_times(schedule, starts, slots) == ()
    starts[0][4] = 4.0
    early = check_times(schedule, starts, slots)
    assert str(early[0]) == "rank 0: 0B0 starts at 4 but needs 1B0 of rank 1, there at 7"
    assert 1 - 16 / timeline.makespan == pytest.approx(3 / 11)
    assert simulate(make("gpipe", 4, 8), slots).makespan == timeline.makespan
