"""How far ranks are from each other, and who keeps the others waiting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from live_ranks import CPU_RANK, GIB, GPU_RANK, S

from scaletui_engine.live.contract import contract
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.history import Point
from scaletui_engine.live.skew import Lag, Spread, Straggler, memory_spread, stragglers, time_spread
from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot

STEP_NS = 400_000_000


def rank(number: int, late_ns: int = 0, step_ns: int = STEP_NS, **fields: object) -> RankView:
    """A GPU rank whose 20 steps end `late_ns` after the clock, and take `step_ns` each."""
    history = tuple(Point(step, step * STEP_NS + late_ns, step_ns, 40 * GIB, None) for step in range(1, 21))
    base = replace(GPU_RANK, history=history, step=20, step_ns=step_ns)
    return replace(base, identity=replace(base.identity, rank=number), **fields)


def job(*ranks: RankView) -> JobView:
    return JobView("a", 0, 0, RankState.RUNNING, len(ranks), ranks)


def test_spreads_name_the_most() -> None:
    fuller = rank(3, allocator=replace(GPU_RANK.allocator, allocated=44 * GIB), step_ns=500_000_000)
    found = job(rank(0), rank(1), rank(2), fuller)
    assert memory_spread(found) == Spread(40 * GIB, 40 * GIB, 44 * GIB, 3)
    assert memory_spread(found).excess == 4 * GIB
    assert time_spread(found) == Spread(STEP_NS, STEP_NS, 500_000_000, 3)


def test_one_rank_has_no_spread_and_the_dead_do_not_count() -> None:
    dead = rank(1, verdict=Verdict(RankState.EXITED, What.KILLED), step_ns=S)
    assert time_spread(job(rank(0), dead)) is None
    assert stragglers(job(rank(0), dead)) == ()


@pytest.mark.parametrize(
    ("odd", "wanted"),
    [
        (rank(3), ()),
        (rank(3, step=17), (Straggler(3, Lag.BEHIND, 3),)),
        (rank(3, step=17, last_ns=19 * STEP_NS), (Straggler(3, Lag.BEHIND, 2),)),
        (rank(3, step=17, last_ns=18 * STEP_NS), ()),
        (rank(3, step=17, last_ns=18 * STEP_NS, same_clock=False), (Straggler(3, Lag.BEHIND, 3),)),
        (rank(3, step=19), ()),
        (rank(3, step_ns=600_000_000), (Straggler(3, Lag.SLOW, 200_000_000),)),
        (rank(3, step_ns=420_000_000), ()),
        (rank(3, late_ns=30_000_000), (Straggler(3, Lag.LATE, 30_000_000, 8, 8),)),
        (rank(3, late_ns=2_000_000), ()),
        (rank(3, late_ns=30_000_000, same_clock=False), ()),
    ],
    ids=[
        "alike",
        "behind",
        "behind when it spoke",
        "read before the others",
        "unlike clocks",
        "one step is the moment",
        "slow",
        "nearly as fast",
        "late",
        "little late",
        "far",
    ],
)
def test_stragglers_are_named_with_the_evidence(odd: RankView, wanted: tuple[Straggler, ...]) -> None:
    assert stragglers(job(rank(0), rank(1), rank(2), odd)) == wanted


def test_who_is_last_now_and_then_is_no_straggler() -> None:
    def ends(number: int) -> RankView:
        """Last in every fourth step."""
        base = rank(number)
        late = [30_000_000 if point.step % 4 == number else 0 for point in base.history]
        history = tuple(
            replace(point, monotonic_ns=point.monotonic_ns + more)
            for point, more in zip(base.history, late, strict=True)
        )
        return replace(base, history=history)

    assert stragglers(job(*map(ends, range(4)))) == ()


def test_samples_of_a_cpu_job_are_no_ends_of_steps() -> None:
    history = tuple(Point(step, step * S, None, None, 1) for step in range(1, 21))
    ranks = [
        replace(CPU_RANK, identity=replace(CPU_RANK.identity, rank=n), history=history) for n in range(3)
    ]
    assert stragglers(job(*ranks)) == ()


def test_scripts_get_skew_and_stragglers() -> None:
    found = job(rank(0), rank(1), rank(2, step_ns=600_000_000))
    (told,) = contract(Snapshot(Moment(0, 0), (found,), (), ()))["jobs"]
    assert told["skew"]["step_time_ns"] == {
        "least": STEP_NS,
        "median": STEP_NS,
        "most": 600_000_000,
        "rank": 2,
    }
    assert told["stragglers"] == [{"rank": 2, "lag": "slow", "amount": 200_000_000, "times": 0, "of": 0}]
