"""Alerts: what raises them, how long they stay, and what an acknowledgement does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from live_ranks import GIB, GPU_RANK, S

from scaletui_engine.live.alerts import STAY_NS, AlertKind, acknowledged, alerts_after
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.held import NOTHING
from scaletui_engine.live.history import Point
from scaletui_engine.live.snapshot import Happening, JobView, Moment, RankView
from scaletui_probe.layout import Event

KILLED = Verdict(RankState.EXITED, What.KILLED, "SIGKILL")
SILENT = Verdict(RankState.RUNNING, What.SILENT)
GROWING = tuple(Point(step, step * S, S, 40 * GIB + step * (16 << 20), None) for step in range(1, 201))


def rank(number: int = 0, **fields: object) -> RankView:
    return replace(GPU_RANK, identity=replace(GPU_RANK.identity, rank=number), **fields)


def job(*ranks: RankView, name: str = "a") -> JobView:
    return JobView(name, 0, 0, RankState.RUNNING, len(ranks), ranks)


def at(seconds: float) -> Moment:
    return Moment(int(seconds * S), 0)


def had(event: Event) -> tuple[Happening, ...]:
    return (Happening(event, 0, 3, (1, 0), "", None, NOTHING),)


@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        ({"verdict": KILLED}, AlertKind.TROUBLE),
        ({"verdict": SILENT}, AlertKind.TROUBLE),
        ({"happenings": had(Event.OOM)}, AlertKind.OUT_OF_MEMORY),
        ({"happenings": had(Event.QUIET)}, AlertKind.QUIET),
        ({"allocator": replace(GPU_RANK.allocator, retries=2)}, AlertKind.RETRIES),
        ({"driver_free": 0, "allocator": replace(GPU_RANK.allocator, peak=48 * GIB)}, AlertKind.NARROW),
        ({"step": 1}, AlertKind.STRAGGLER),
        ({"history": GROWING, "driver_free": 10 * GIB}, AlertKind.GROWTH),
    ],
    ids=lambda value: str(value) if isinstance(value, AlertKind) else "",
)
def test_what_raises_an_alert(odd: dict[str, object], kind: AlertKind) -> None:
    found = alerts_after((), job(rank(0), rank(1), rank(2, **odd)), at(0))
    assert [(alert.kind, alert.ranks) for alert in found] == [(kind, (2,))]


def test_a_job_in_order_raises_none() -> None:
    finished = Verdict(RankState.EXITED, What.FINISHED)
    assert alerts_after((), job(rank(0), rank(1, verdict=finished)), at(0)) == ()


def test_ranks_with_the_same_fate_are_one_alert_with_the_age_of_the_first() -> None:
    first = alerts_after((), job(rank(0), rank(1, verdict=KILLED)), at(1))
    (alert,) = alerts_after(first, job(rank(0, verdict=KILLED), rank(1, verdict=KILLED)), at(5))
    assert (alert.what, alert.detail, alert.ranks, alert.age_s(at(5))) == (
        What.KILLED,
        "SIGKILL",
        (0, 1),
        4.0,
    )


def test_what_befell_a_rank_is_as_old_as_its_last_word() -> None:
    (alert,) = alerts_after((), job(rank(0), rank(1, verdict=KILLED, last_ns=2 * S)), at(3_602))
    assert alert.age_s(at(3_602)) == 3_600


def test_what_is_serious_stays_until_it_is_acknowledged() -> None:
    found = alerts_after((), job(rank(0, verdict=SILENT)), at(0))
    for second in (1, 100, 10_000):
        found = alerts_after(found, job(rank(0)), at(second))
        assert [alert.kind for alert in found] == [AlertKind.TROUBLE]
    assert alerts_after(acknowledged(found), job(rank(0)), at(10_001)) == ()


def test_what_comes_and_goes_stays_for_a_while() -> None:
    behind, level = job(rank(0), rank(1), rank(2, step=1)), job(rank(0), rank(1), rank(2))
    found = alerts_after((), behind, at(0))
    found = alerts_after(found, level, at(10))
    found = alerts_after(found, behind, at(20))
    assert [(alert.kind, alert.begun_ns) for alert in found] == [(AlertKind.STRAGGLER, 0)]
    found = alerts_after(found, level, at(20 + STAY_NS / S - 1))
    assert len(found) == 1
    assert alerts_after(found, level, at(20 + STAY_NS / S)) == ()


def test_an_acknowledged_alert_is_news_again_when_it_spreads() -> None:
    found = acknowledged(alerts_after((), job(rank(0), rank(1, verdict=KILLED)), at(0)))
    (same,) = alerts_after(found, job(rank(0), rank(1, verdict=KILLED)), at(1))
    assert same.is_acknowledged
    (more,) = alerts_after((same,), job(rank(0, verdict=KILLED), rank(1, verdict=KILLED)), at(2))
    assert not more.is_acknowledged


def test_alerts_of_another_job_stay_while_this_one_is_looked_at() -> None:
    found = alerts_after((), job(rank(0, verdict=KILLED), name="b"), at(0))
    assert alerts_after(found, job(rank(0)), at(999)) == found
