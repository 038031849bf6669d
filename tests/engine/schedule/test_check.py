"""Orders that are wrong in themselves, and what is said about them."""

from __future__ import annotations

import pytest

from scaletui_engine.schedule.check import MOST_FAULTS, check
from scaletui_engine.schedule.deadlock import DeadlockError
from scaletui_engine.schedule.fault import FaultKind, OrderError
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.lowering import lower
from scaletui_engine.schedule.placement import PlacementError, require_placement, vee
from scaletui_engine.schedule.simulate import simulate


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        ("0F0,0B0\n1B0,1F0", FaultKind.EARLY, "rank 1, step 0: 1B0 runs before 1F0, which is at step 1"),
        ("0F0,0W0,0I0", FaultKind.EARLY, "rank 0, step 1: 0W0 runs before 0I0, which is at step 2"),
        (
            "(0F0;0B0)OVERLAP_F_B",
            FaultKind.EARLY,
            "rank 0, step 0: 0B0 runs in one pair with 0F0, which it needs",
        ),
        (
            "0F0,(1F0;1I0)OVERLAP_F_B,1W0,0B0",
            FaultKind.EARLY,
            "rank 0, step 1: 1I0 runs in one pair with 1F0, which it needs",
        ),
        ("0I0,0F0,0W0", FaultKind.EARLY, "rank 0, step 0: 0I0 runs before 0F0, which is at step 1"),
        ("0F0,0F0,0B0", FaultKind.REPEATED, "stage 0, microbatch 0: 0F0 2 times, wanted once"),
        ("0F0,0I0,0W0,0W0", FaultKind.REPEATED, "stage 0, microbatch 0: 0W0 2 times, wanted once"),
        ("0F0,0I0,0B0,0W0", FaultKind.REPEATED, "stage 0, microbatch 0: 0B0 beside its halves I and W"),
        ("0F0,0I0", FaultKind.UNSPLIT, "stage 0, microbatch 0: 0I0 without 0W0"),
        ("0F0,0W0", FaultKind.UNSPLIT, "stage 0, microbatch 0: 0W0 without 0I0"),
        ("0F0,0F1,0B1", FaultKind.MISSING, "stage 0, microbatch 0: no 0B0, nor I and W"),
        ("0F1,0B1,0B0", FaultKind.MISSING, "stage 0, microbatch 0: no 0F0"),
        ("0F0,0B0\n\n", None, ""),
    ],
    ids=str,
)
def test_fault(rows: str, kind: FaultKind | None, message: str) -> None:
    schedule = read_csv(rows).schedule
    faults = check(schedule)
    if kind is None:
        assert faults == ()
        return
    assert (faults[0].kind, faults[0].message) == (kind, message)
    with pytest.raises(OrderError, match=r"^\S"):
        simulate(schedule)
    with pytest.raises(OrderError):
        lower(schedule)


def test_ranks_that_wait_for_each_other_are_named() -> None:
    schedule = read_csv("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0").schedule
    assert check(schedule) == ()
    with pytest.raises(DeadlockError, match="deadlock: ") as caught:
        simulate(schedule)
    assert [str(head) for head in caught.value.cycle] == [
        "rank 0 at 0B0 waits for 1B0 of rank 1",
        "rank 1 at 1F1 waits for 0F1 of rank 0",
    ]
    with pytest.raises(DeadlockError, match="rank 1 at 1F1 waits for 0F1 of rank 0"):
        lower(schedule)


def test_the_placement_that_a_schedule_wants_is_spelled_out() -> None:
    found = read_csv("0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0").schedule.placement
    with pytest.raises(
        PlacementError, match=r"rank 0 holds stages \[0, 2\], but zb-v .* \{0: \[0, 3\], 1: \[1, 2\]\}"
    ):
        require_placement(found, vee(2), "zb-v")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0F0,0B0,2F0,2B0\n2F0,2B0,1F0,1B0", "stage 2 is on rank 0 and on rank 1"),
        ("0F0,0B0\n2F0,2B0", "no rank runs stage 1 of 3"),
    ],
)
def test_stages_that_are_nowhere_or_twice(rows: str, message: str) -> None:
    with pytest.raises(PlacementError, match=message):
        read_csv(rows)


def test_a_model_held_twice_has_to_be_declared() -> None:
    rows = "0F0,0B0,1F1,1B1\n1F0,1B0,0F1,0B1"
    with pytest.raises(PlacementError):
        read_csv(rows)
    schedule = read_csv(rows, replicas=True).schedule
    assert schedule.placement.ranks_of == ((0, 1), (0, 1)) or schedule.placement.replicas == 2
    assert check(schedule) == ()
    assert simulate(schedule).makespan > 0


def test_a_backward_away_from_its_forward() -> None:
    schedule = read_csv("0F0,0B1,0F1\n0B0", replicas=True).schedule
    apart = [fault for fault in check(schedule) if fault.kind is FaultKind.APART]
    assert [fault.message for fault in apart] == ["rank 1, step 0: 0B0, but 0F0 ran on rank 0"]


@pytest.mark.parametrize("rows", ["0F0,0B0,0F1000000", "0F0,0B0\n1F1048575,1B1048575", "0F0" + ",0F9999" * 9])
def test_numbers_that_promise_millions_of_actions_end_at_once(rows: str) -> None:
    schedule = read_csv(rows).schedule
    assert len(check(schedule)) <= MOST_FAULTS
    with pytest.raises(OrderError, match="microbatch"):
        simulate(schedule)


def test_a_rank_without_actions_is_named() -> None:
    schedule = read_csv("0F0,0B0\n,,\n1F0,1B0").schedule
    assert check(schedule)[0].message == "rank 1 has no action"


def test_faults_are_counted_in_the_message() -> None:
    schedule = read_csv("0F0,0F0,0B0,0B0").schedule
    with pytest.raises(OrderError, match=r"0F0 2 times, wanted once \(and 1 more\)"):
        simulate(schedule)
