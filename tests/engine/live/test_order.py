"""The order of ranks, and which of them a text asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from live_ranks import CPU_RANK, GIB, GPU_RANK, S

from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.held import Held
from scaletui_engine.live.judgement import worst
from scaletui_engine.live.order import Order, sorted_ranks
from scaletui_engine.live.rank_filter import rank_filter
from scaletui_engine.live.snapshot import Happening, JobView, Moment, RankView
from scaletui_probe.layout import Event

NOW = Moment(10 * S, 0)
KILLED = Verdict(RankState.EXITED, What.KILLED, "SIGKILL")


def gpu(number: int, **fields: object) -> RankView:
    """A GPU rank of that number, with some fields replaced."""
    return replace(GPU_RANK, identity=replace(GPU_RANK.identity, rank=number), **fields)


def reserved(number: int, amount: int) -> RankView:
    return gpu(number, allocator=replace(GPU_RANK.allocator, reserved=amount))


def failed(number: int, at_s: int, name: str) -> RankView:
    """A rank that told of an exception at a second."""
    told = Happening(Event.EXCEPTION, at_s * S, 21, (0, 0), name, None, Held())
    return gpu(number, verdict=Verdict(RankState.EXITED, What.EXCEPTION, name), happenings=(told,))


def killed(number: int, at_s: int) -> RankView:
    """A rank whose last record is of that second."""
    return gpu(number, verdict=KILLED, last_wall_ns=at_s * S)


def numbers(ranks: tuple[RankView, ...]) -> list[int]:
    return [rank.identity.rank for rank in ranks]


@pytest.mark.parametrize(
    ("order", "ranks", "wanted"),
    [
        (Order.RANK, [gpu(2), gpu(0), gpu(1)], [0, 1, 2]),
        (Order.HEADROOM, [gpu(0), gpu(1, driver_free=GIB), gpu(2, verdict=KILLED)], [2, 1, 0]),
        (Order.HEADROOM, [gpu(1, driver_free=GIB), gpu(0, driver_free=GIB + 4096)], [0, 1]),
        (Order.STEP_TIME, [gpu(0), gpu(1, step_ns=S), gpu(2, step_ns=None)], [1, 0, 2]),
        (Order.STEP_TIME, [gpu(1, step_ns=410_000_000), gpu(0, step_ns=412_000_000)], [0, 1]),
        (Order.RESERVED, [reserved(0, 50 * GIB), reserved(1, 60 * GIB)], [1, 0]),
        (Order.AGE, [gpu(0), gpu(1, last_ns=S), gpu(2, last_ns=9 * S)], [1, 0, 2]),
    ],
    ids=str,
)
def test_orders(order: Order, ranks: list[RankView], wanted: list[int]) -> None:
    assert numbers(sorted_ranks(ranks, order, NOW)) == wanted


@pytest.mark.parametrize(
    ("ranks", "wanted"),
    [
        ((failed(0, 11, "RuntimeError"), failed(1, 10, "ValueError")), 1),
        ((failed(0, 10, "RuntimeError"), failed(1, 11, "ValueError")), 0),
        ((killed(0, 5), killed(1, 4)), 1),
        ((failed(0, 9, "ValueError"), killed(1, 10)), 1),
        ((gpu(0, last_wall_ns=S), gpu(1, last_wall_ns=2 * S, driver_free=GIB)), 1),
    ],
    ids=["follower", "first", "both killed", "cause", "both run"],
)
def test_the_worst_of_those_that_fell_alike_fell_first(ranks: tuple[RankView, ...], wanted: int) -> None:
    job = JobView("4f2a", 0, 0, RankState.EXITED, len(ranks), ranks)
    assert worst(job).identity.rank == wanted


def test_ranks_without_a_device_go_by_what_they_hold() -> None:
    fuller = replace(CPU_RANK, measured=replace(CPU_RANK.measured, weights=GIB), identity=gpu(7).identity)
    assert numbers(sorted_ranks([CPU_RANK, fuller], Order.HEADROOM, NOW)) == [7, 0]


RANKS = (
    gpu(0),
    gpu(8, driver_free=3 * GIB),
    gpu(12, verdict=KILLED),
    gpu(15, verdict=Verdict(RankState.RUNNING, What.SILENT), step_ns=2 * S),
    replace(gpu(16), identity=replace(GPU_RANK.identity, rank=16, host="node-b", device_uuid="GPU-77")),
    replace(CPU_RANK, identity=replace(CPU_RANK.identity, rank=17)),
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", [0, 8, 12, 15, 16, 17]),
        ("12", [12]),
        ("rank 12", [12]),
        ("rank:12", [12]),
        ("ranks 8-15", [8, 12, 15]),
        ("8 - 12", [8, 12]),
        ("state:dead", [12]),
        ("state: running", [0, 8, 15, 16, 17]),
        ("is:killed", [12]),
        ("is:silent", [15]),
        ("sigkill", [12]),
        ("node-b", [16]),
        ("gpu-77", [16]),
        ("> 85 %", [8]),
        (">85%", [8]),
        ("> 85", [8]),
        ("< 60 %", [0, 12, 15, 16]),
        ("> 30 GiB", [0, 8, 12, 15, 16]),
        ("< 1 gib", [17]),
        (">= 1.5 s", [15]),
        ("> 500ms", [15]),
        ("state:running > 85 %", [8]),
        ("nowhere", []),
        (">", []),
    ],
)
def test_filters(text: str, wanted: list[int]) -> None:
    assert numbers(rank_filter(text).of(RANKS)) == wanted
