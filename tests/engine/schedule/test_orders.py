"""Orders held to published ones, action by action."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_engine.schedule.activations import activations_of
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule

GOLDEN = Path(__file__).parents[2] / "golden"
TORCH = json.loads((GOLDEN / "torch_schedules.json").read_text("utf-8"))["records"]
FACTS = json.loads((GOLDEN / "pipeline.json").read_text("utf-8"))

GOLDEN_ORDERS = {
    "dualpipev_4rank_10mb": ("DualPipeV", 4, 10, 2),
    "zb1p_2rank_2stagep_compute": ("InterleavedZeroBubble", 2, 8, 2),
    "zb_h1_p4_m8 (order + kinds)": ("zb-h1", 4, 8, 1),
    "zb_h2_p4_m8 (order + kinds)": ("zb-h2", 4, 8, 1),
    "zbv_torch_p4_m8": ("ZBVZeroBubble", 4, 8, 2),
    "interleaved_p2_m4_v2": ("Interleaved1F1B", 2, 4, 2),
    "interleaved_flex_p4_m10_v2": ("Interleaved1F1B", 4, 10, 2),
    "1f1b_p4_m8": ("1f1b", 4, 8, 1),
    "gpipe_p4_m4": ("GPipe", 4, 4, 1),
    "looped_bfs_p2_m3_v2": ("LoopedBFS", 2, 3, 2),
}


def _sha(schedule: Schedule) -> str:
    return sha256("\n".join(csv_lines(schedule)).encode()).hexdigest()


@pytest.mark.parametrize("record", TORCH, ids=lambda r: f"{r['schedule']}-p{r['p']}-m{r['m']}-v{r['v']}")
def test_torch_2_13_order(record: dict[str, Any], make: Callable[..., Schedule]) -> None:
    schedule = make(record["schedule"], record["p"], record["m"], record["v"])
    assert _sha(schedule) == record["sha256"]
    timeline = simulate(schedule)
    assert timeline.makespan == record["makespan"]
    assert activations_of(timeline).peak.tolist() == record["peak"]


LOWERED = [record for record in TORCH if "sha256_lowered" in record]


@pytest.mark.parametrize("record", LOWERED, ids=lambda r: f"{r['schedule']}-p{r['p']}-m{r['m']}-v{r['v']}")
def test_torch_2_13_lowered_order(record: dict[str, Any], make: Callable[..., Schedule]) -> None:
    schedule = make(record["schedule"], record["p"], record["m"], record["v"])
    assert _sha(lower(schedule)) == record["sha256_lowered"]


@pytest.mark.parametrize("name", GOLDEN_ORDERS)
def test_golden_order(name: str, make: Callable[..., Schedule]) -> None:
    fact = next(order for order in FACTS["golden_orders"] if order["name"] == name)
    schedule = make(*GOLDEN_ORDERS[name])
    assert list(csv_lines(schedule)) == fact.get("rows", list(csv_lines(schedule)))
    assert _sha(schedule) == fact["sha256_of_rows_joined_by_newline"]


def test_golden_messages_of_pytorch_bf69c149(make: Callable[..., Schedule]) -> None:
    fact = next(
        order for order in FACTS["golden_orders"] if order["name"].startswith("zb1p_2rank_2stagep_comms")
    )
    lowered = lower(make("InterleavedZeroBubble", 2, 8, 2), Passes(merge=True, fsdp=False))
    assert _sha(lowered) == fact["sha256_of_rows_joined_by_newline"]


@pytest.mark.parametrize(
    ("figure", "name"),
    [("zb_h1", "zb-h1"), ("zb_h2", "zb-h2"), ("zbv_fig8", "zb-v")],
    ids=["2401.10241-fig3-top", "2401.10241-fig3-bottom", "2401.10241-fig8"],
)
def test_zero_bubble_figure(
    figure: str, name: str, make: Callable[..., Schedule], facts: dict[str, Any]
) -> None:
    printed = facts["figure_microbatch_sequences_1based"][figure]
    schedule = make(name, 4, 8)
    found = [[(code >> 21) + 1 for code in row.tolist()] for row in schedule.rows]
    assert found == [[int(number) for number in row.split()] for row in printed]


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_torch_and_paper_agree_on_zero_bubble_v_but_for_the_last_weight_gradients(
    ranks: int, make: Callable[..., Schedule], cells: Callable[[Schedule], list[list[str]]]
) -> None:
    paper, torch = (cells(make(name, ranks, 2 * ranks)) for name in ("zb-v", "ZBVZeroBubble"))
    without_w = [[[cell for cell in row if "W" not in cell] for row in rows] for rows in (paper, torch)]
    assert without_w[0] == without_w[1]
    assert [sorted(row) for row in paper] == [sorted(row) for row in torch]
    assert (
        simulate(make("zb-v", ranks, 2 * ranks)).makespan
        == simulate(make("ZBVZeroBubble", ranks, 2 * ranks)).makespan
    )


def test_gpipe_paper_runs_backwards_in_reverse(
    make: Callable[..., Schedule], cells: Callable[[Schedule], list[list[str]]]
) -> None:
    assert cells(make("gpipe", 2, 3))[1] == ["1F0", "1F1", "1F2", "1B2", "1B1", "1B0"]
    assert cells(make("GPipe", 2, 3))[1] == ["1F0", "1F1", "1F2", "1B0", "1B1", "1B2"]


def test_seq1f1b_backwards_start_with_the_last_slice(
    make: Callable[..., Schedule], cells: Callable[[Schedule], list[list[str]]]
) -> None:
    """arXiv:2406.03488, figure 3: microbatch 0 is slices 0 and 1."""
    assert cells(make("seq1f1b", 2, 2))[1] == ["1F0", "1F1", "1B1", "1F2", "1B0", "1F3", "1B3", "1B2"]


def test_megatron_schedule_table(make: Callable[..., Schedule], facts: dict[str, Any]) -> None:
    from scaletui_engine.schedule.interchange.chunk_order import chunk_order
    from scaletui_engine.schedule.orders.rounds import virtual_order
    from scaletui_engine.schedule.shape import Choices

    fact = facts["megatron_schedule_table_golden"]
    table = virtual_order(5, 3, 2)
    assert [microbatch for _, microbatch in table] == fact["microbatch_id"]
    assert [chunk for chunk, _ in table] == fact["model_chunk_id"]
    schedule = make("interleaved-1f1b", 2, 5, 2, Choices(group=3))
    assert list(chunk_order(schedule, 0)) == fact["order_signed_chunk"]
