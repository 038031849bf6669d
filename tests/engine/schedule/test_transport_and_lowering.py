"""Messages and FSDP actions: where the passes put them, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.fault import OrderError
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.lowering import Passes, compute_only, lower
from scaletui_engine.schedule.lowering.defer import defer_receives
from scaletui_engine.schedule.lowering.peers import homes_of
from scaletui_engine.schedule.modes.transport import Transport, simulate_transport
from scaletui_engine.schedule.registry import schedule_names
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule


@pytest.mark.parametrize("name", schedule_names())
def test_every_message_has_two_ends_and_the_compute_actions_stay(
    name: str, make: Callable[..., Schedule]
) -> None:
    schedule = make(name, 4, 8)
    lowered = lower(schedule)
    cells = [cell for line in csv_lines(lowered) for cell in line.split(",")]
    for pair in ("SEND_F", "RECV_F"), ("SEND_B", "RECV_B"):
        sends, receives = ([cell for cell in cells if word in cell] for word in pair)
        assert len(sends) == len(receives) == len(set(sends))
    assert list(csv_lines(compute_only(lowered))) == list(csv_lines(schedule))
    assert cells.count("0REDUCE_GRAD") == schedule.placement.replicas
    assert simulate(lowered).makespan == simulate(schedule).makespan


@pytest.mark.parametrize("name", schedule_names())
def test_deferring_moves_receives_only(name: str, make: Callable[..., Schedule]) -> None:
    schedule = make(name, 4, 8)
    early, late = (lower(schedule, Passes(defer=defer)) for defer in (False, True))
    for first, second in zip(csv_lines(early), csv_lines(late), strict=True):
        assert sorted(first.split(",")) == sorted(second.split(","))
        kept = [[cell for cell in line.split(",") if "RECV" not in cell] for line in (first, second)]
        assert kept[0] == kept[1]


def test_no_message_at_the_turn_of_the_v(make: Callable[..., Schedule]) -> None:
    cells = ",".join(csv_lines(lower(make("zb-v", 4, 8)))).split(",")
    assert not {"3SEND_F0", "4RECV_F0", "4SEND_B0", "3RECV_B0"} & set(cells)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0F0,0SEND_F0,0B0\n1F0,1B0,1SEND_B0", r"rank 0, step 1: 0SEND_F0 has no 1RECV_F0 \(and 1 more\)"),
        ("0F0,0SEND_F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0", r"rank 0, step 1: 0SEND_F0 again"),
    ],
)
@pytest.mark.parametrize("transport", [Transport.BLOCKING, Transport.IN_ORDER])
def test_messages_that_do_not_match(rows: str, message: str, transport: Transport) -> None:
    schedule = read_csv(rows).schedule
    with pytest.raises(OrderError, match=message):
        simulate_transport(schedule, uniform(1, 1, 1), transport)


def test_a_receive_that_nothing_consumes_cannot_be_deferred() -> None:
    schedule = read_csv("0F0,0RECV_F7,0B0").schedule
    with pytest.raises(ScenarioError, match="rank 0: nothing consumes 0RECV_F7"):
        defer_receives(schedule.rows[0].tolist(), 0, homes_of(schedule))


@pytest.mark.parametrize(
    ("transport", "makespan"),
    [
        (Transport.ASYNC, 10.0),
        (Transport.BLOCKING, 10.0),
        (Transport.IN_ORDER, 10.0),
        (Transport.LATE_LAUNCH, 10.0),
    ],
)
def test_one_microbatch_over_two_ranks_costs_both_messages_everywhere(
    transport: Transport, makespan: float, make: Callable[..., Schedule]
) -> None:
    """F, message, F, B, message, B: 1 + 2 + 1 + 2 + 2 + 2."""
    assert simulate_transport(make("gpipe", 2, 1), uniform(1, 1, 1, 2), transport).makespan == makespan


def test_a_blocking_send_holds_its_rank(make: Callable[..., Schedule]) -> None:
    timeline = simulate_transport(make("gpipe", 2, 2), uniform(1, 1, 1, 2), Transport.BLOCKING)
    assert timeline.start[:2].tolist() == [0, 3]


@pytest.mark.parametrize("transport", list(Transport))
def test_late_starts_are_put_down_to_what_they_wait_for(
    transport: Transport, make: Callable[..., Schedule]
) -> None:
    from scaletui_engine.schedule.result import result_of

    result = result_of(simulate_transport(make("dualpipev", 2, 4), uniform(1, 1, 1, 0.5), transport))
    assert result.timeline.start[result.critical_path[0]] >= 0
    total = (result.idle.end - result.idle.start).sum()
    assert total == pytest.approx(sum(result.bubble.per_rank))
