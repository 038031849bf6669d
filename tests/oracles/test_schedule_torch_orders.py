"""Orders, lowering and refusals of the installed torch's own schedule classes, built without processes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.distributed.pipelining import schedules as torch_schedules

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build
from scaletui_engine.schedule.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.schedule.schedule import Schedule

pytestmark = pytest.mark.torch

SINGLE = ("GPipe", "1F1B")
MULTI = {
    "LoopedBFS": (1, 2, 3),
    "Interleaved1F1B": (1, 2, 3),
    "InterleavedZeroBubble": (1, 2, 4),
    "ZBVZeroBubble": (2,),
    "DualPipeV": (2,),
}
"""Names, and the chunks a rank that are tried."""


class Stage:
    """What a schedule class asks of a stage; `log` takes what a runtime runs on it."""

    def __init__(self, index: int, count: int, ranks: int, rank: int = 0) -> None:
        self.stage_index, self.num_stages = index, count
        self.group_size, self.group_rank = ranks, rank
        self.is_first, self.is_last = index == 0, index == count - 1
        self.has_backward, self.group, self.device = True, None, torch.device("cpu")
        self.submod = torch.nn.Identity()
        self.stage_index_to_group_rank = {i: i for i in range(count)}
        self.log: list[str] = []

    def get_fwd_recv_ops(self, microbatch: int) -> list[object]:
        return []

    get_fwd_send_ops = get_bwd_recv_ops = get_bwd_send_ops = get_fwd_recv_ops

    def forward_one_chunk(self, microbatch: int, *args: object, **kwargs: object) -> None:
        self.log.append(f"{self.stage_index}F{microbatch}")

    def backward_one_chunk(self, microbatch: int, *args: object, **kwargs: object) -> None:
        self.log.append(f"{self.stage_index}B{microbatch}")

    def perform_reduce_grad(self, *args: object) -> None:
        self.log.append("")

    def clear_runtime_states(self) -> None:
        self.log.append("")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _multi(name: str, ranks: int, microbatches: int, chunks: int) -> Any:
    count = ranks * chunks
    local = [0, count - 1] if name in ("ZBVZeroBubble", "DualPipeV") else [i * ranks for i in range(chunks)]
    cls = torch_schedules.get_schedule_class(name)
    return cls([Stage(i, count, ranks) for i in local], microbatches, loss_fn=lambda *a: None)


def _executed(name: str, ranks: int, microbatches: int, rank: int) -> list[str]:
    """What the single-stage runtime runs on a rank, with messages and losses taken out."""
    stage = Stage(rank, ranks, ranks, rank)
    schedule: Any = torch_schedules.get_schedule_class(name)(stage, microbatches, loss_fn=lambda *a: None)
    nothing = [None] * microbatches
    schedule._initialize_stage = lambda *a, **k: None
    schedule._check_inputs = lambda *a: (nothing, nothing)
    schedule._maybe_compute_loss = schedule._maybe_get_loss = lambda *a, **k: None
    schedule._step_microbatches(nothing, nothing)
    return [cell for cell in stage.log if cell]


def _rows(order: dict[int, list[Any]], keep: tuple[str, ...] = ()) -> list[list[str]]:
    cells = [[str(a) for a in order[rank] if a is not None] for rank in range(len(order))]
    return [[c for c in row if "REDUCE" not in c or "REDUCE" in keep] for row in cells]


def _ours(schedule: Schedule) -> list[list[str]]:
    return [line.split(",") for line in csv_lines(schedule)]


@pytest.mark.parametrize("ranks", range(1, 9))
@pytest.mark.parametrize(("name", "chunks"), [(name, v) for name, all_v in MULTI.items() for v in all_v])
def test_orders_messages_and_refusals(name: str, chunks: int, ranks: int) -> None:
    for microbatches in range(1, 17):
        request = Request(name, Shape(ranks, microbatches, chunks))
        try:
            theirs = _multi(name, ranks, microbatches, chunks)
        except ValueError:
            with pytest.raises(ScenarioError, match=r"; nearest valid: "):
                build(request)
            continue
        ours = build(request)
        assert _ours(ours) == _rows(theirs.pipeline_order), (ranks, microbatches)
        assert _ours(lower(ours)) == _rows(theirs.pipeline_order_with_comms, ("REDUCE",)), (
            ranks,
            microbatches,
        )
        homes = {stage: held[0] for stage, held in enumerate(ours.placement.ranks_of)}
        assert homes == theirs.stage_index_to_group_rank


@pytest.mark.parametrize("ranks", range(1, 9))
@pytest.mark.parametrize("name", SINGLE)
def test_orders_that_the_single_stage_runtime_executes(name: str, ranks: int) -> None:
    for microbatches in range(1, 17):
        request = Request(name, Shape(ranks, microbatches))
        try:
            theirs = [_executed(name, ranks, microbatches, rank) for rank in range(ranks)]
        except ValueError:
            with pytest.raises(ScenarioError, match=r"; nearest valid: "):
                build(request)
            continue
        assert _ours(build(request)) == theirs


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8), (8, 16)])
def test_an_announced_order_that_is_not_the_executed_one_is_found(
    name: str, ranks: int, microbatches: int
) -> None:
    """torch 2.13's Schedule1F1B.pipeline_order lacks F0 on its last rank and has F(m) instead.

    `forward_mb` is counted up before its first use there, and the last rank has no warm-up forward.
    """
    cls = torch_schedules.get_schedule_class(name)
    order = cls(Stage(0, ranks, ranks), microbatches, loss_fn=lambda *a: None).pipeline_order
    announced = read_csv("\n".join(",".join(row) for row in _rows(order))).schedule
    expected = build(Request(name, Shape(ranks, microbatches)))
    same = _ours(announced) == _ours(expected)
    messages = [fault.message for fault in check(announced)]
    assert same == (messages == [])
    if not same:
        last = ranks - 1
        assert f"stage {last}, microbatch 0: no {last}F0" in messages
        assert f"stage {last}, microbatch {microbatches}: no {last}B{microbatches}, nor I and W" in messages


@pytest.mark.parametrize("defer", [False, True], ids=["early", "deferred"])
@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8), (8, 16)])
@pytest.mark.parametrize("name", MULTI)
def test_deferred_receives(name: str, ranks: int, microbatches: int, defer: bool) -> None:
    theirs = _multi(name, ranks, microbatches, 2)
    rows = theirs.pipeline_order_with_comms
    if defer:
        rows = torch_schedules._defer_recv_ops(rows, lambda stage: theirs.stage_index_to_group_rank[stage])
    ours = lower(build(Request(name, Shape(ranks, microbatches, 2))), Passes(defer=defer))
    assert _ours(ours) == _rows(rows, ("REDUCE",))
