"""Public bug reports about messages, each a test named after its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui_engine.schedule.deadlock import DeadlockError
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.modes.held_up import held_up
from scaletui_engine.schedule.modes.lanes import simulate_lanes
from scaletui_engine.schedule.modes.messages_only import require_messages_flow
from scaletui_engine.schedule.modes.transport import Transport, simulate_transport
from scaletui_engine.schedule.orders.interleaved import tables, warmup
from scaletui_engine.schedule.orders.weave import weave
from scaletui_engine.schedule.schedule import frozen_rows
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import UNIT_TIMES, uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule


def test_pytorch_172668_both_ranks_send_first() -> None:
    """r0 0SEND_F1, 2RECV_F0, 2F0; r1 1SEND_F0, 1RECV_F1, 1F1: nobody receives."""
    rows = "0F0,0F1,0SEND_F1,2RECV_F0,2F0,2B0,0B0\n1F0,1SEND_F0,1RECV_F1,1F1,1B0"
    schedule = read_csv(rows).schedule
    with pytest.raises(DeadlockError) as caught:
        require_messages_flow(schedule, rendezvous=True)
    assert [str(head) for head in caught.value.cycle] == [
        "rank 0 at 0SEND_F1 waits for 1RECV_F1 of rank 1",
        "rank 1 at 1SEND_F0 waits for 2RECV_F0 of rank 0",
    ]
    require_messages_flow(schedule, rendezvous=False)
    first = read_csv(rows.replace("0SEND_F1,2RECV_F0", "2RECV_F0,0SEND_F1")).schedule
    require_messages_flow(first, rendezvous=True)


@pytest.mark.parametrize("transport", [Transport.ASYNC, Transport.IN_ORDER, Transport.BLOCKING])
def test_pytorch_172668_a_whole_schedule_of_two_ranks(
    transport: Transport, make: Callable[..., Schedule]
) -> None:
    """PyTorch's own placement of receives runs even with a rendezvous: each sender places its receiver's."""
    schedule = lower(make("Interleaved1F1B", 2, 4))
    assert simulate_transport(schedule, uniform(1, 1, 1, 0.5), transport).makespan >= 27


def test_pytorch_188833_a_waiting_receive_holds_up_sends(make: Callable[..., Schedule]) -> None:
    """pp 8, 2 chunks: 8RECV_F0 stands before 0SEND_F1 in rank 0's message lane."""
    schedule = make("Interleaved1F1B", 8, 16)
    front, deferred = (lower(schedule, Passes(fsdp=False, defer=defer)) for defer in (False, True))
    in_order = simulate_lanes(front, UNIT_TIMES, rendezvous=False)
    moved = simulate_lanes(deferred, UNIT_TIMES, rendezvous=False)
    assert in_order.compute.makespan > moved.compute.makespan == simulate(schedule).makespan == 117
    blocked = held_up(front, in_order)
    assert {(item.rank, item.receive, item.send) for item in blocked} >= {(0, "8RECV_F0", "0SEND_F1")}
    assert not {item.receive for item in held_up(deferred, moved)} & {f"8RECV_F{k}" for k in range(8)}


@pytest.mark.parametrize(
    ("comm", "twice", "once"), [(0.0, 57, 57), (0.5, 64, 72), (1.0, 71, 87)], ids=["c0", "c0.5", "c1"]
)
def test_megatron_169_why_the_warm_up_is_doubled(
    comm: float, twice: float, once: float, make: Callable[..., Schedule]
) -> None:
    """p 4, v 2, m 8: rank 0 warms up with 10 forwards; with a factor of 1 it would be 7, and slower."""
    schedule = make("interleaved-1f1b", 4, 8)
    shape = schedule.shape
    assert [warmup(shape, 4, 0, factor=factor) for factor in (2, 1)] == [10, 7]
    times = uniform(1, 1, 1, comm)
    assert simulate(schedule, times).makespan == twice
    rows = [weave(*tables(shape, 4, rank), warmup(shape, 4, rank, factor=1)) for rank in range(4)]
    single = type(schedule)("factor 1", shape, schedule.placement, frozen_rows(rows))
    assert simulate(single, times).makespan == once


def test_megatron_750_two_messages_to_the_same_peer_are_told_apart(make: Callable[..., Schedule]) -> None:
    """With 2 ranks the next and the previous rank are the same: kind, stage and microbatch name a message."""
    lowered = lower(make("interleaved-1f1b", 2, 4), Passes(fsdp=False))
    sends = [cell for line in csv_lines(lowered) for cell in line.split(",") if "SEND" in cell]
    assert len(sends) == len(set(sends))
    to_the_same_peer = [cell for cell in next(csv_lines(lowered)).split(",") if "SEND" in cell]
    assert {cell.rstrip("0123456789") for cell in to_the_same_peer} == {"0SEND_F", "2SEND_F", "2SEND_B"}


def test_zero_bubble_73_a_send_launched_after_the_next_forward(make: Callable[..., Schedule]) -> None:
    """Rank 1 starts after two forwards of rank 0 instead of one."""
    schedule = make("zb-h1", 4, 8)
    at_once = simulate(schedule)
    late = simulate_transport(schedule, UNIT_TIMES, Transport.LATE_LAUNCH)
    assert (at_once.first_start[1], late.first_start[1]) == (1, 2)
    assert late.makespan > at_once.makespan


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "zb-v", "dualpipe", "dualpipev", "seq1f1b", "looped-bfs"])
@pytest.mark.parametrize("transport", list(Transport))
def test_no_transport_is_faster_than_asynchronous_sends(
    name: str, transport: Transport, make: Callable[..., Schedule]
) -> None:
    schedule, times = make(name, 4, 8), uniform(1, 1, 1, 0.25)
    assert (
        simulate_transport(schedule, times, transport).makespan >= simulate(schedule, times).makespan - 1e-9
    )


def test_a_deferred_receive_can_deadlock_where_sends_block(make: Callable[..., Schedule]) -> None:
    """pytorch/pytorch#172668, comment of 2026-01-21: ordering receives by rank alone still got stuck."""
    lowered = lower(make("1f1b", 4, 8), Passes(fsdp=False, defer=True))
    with pytest.raises(DeadlockError) as caught:
        simulate_transport(lowered, UNIT_TIMES, Transport.BLOCKING)
    assert [(head.rank, head.of_rank) for head in caught.value.cycle] == [(2, 3), (3, 2)]
