"""What ended, what cannot be seen and what is sought: clock times, folded rows, hidden steps, one process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from live_ranks import S

from scaletui.state.live import (
    LiveState,
    acknowledge,
    arrived,
    filtered,
    folded_ranks,
    job,
    ordered,
    other_job,
    rank,
    rank_of_number,
)
from scaletui.text.glyphs import ASCII
from scaletui.view.box import Box
from scaletui.view.live_alerts import alert_rows
from scaletui.view.live_answer import answer_rows
from scaletui.view.live_compare import compare_rows
from scaletui.view.live_faults import fault_facts
from scaletui.view.live_fit import fit_rows
from scaletui.view.live_rank import rank_rows
from scaletui.view.live_ranks import ranks_rows
from scaletui.view.live_report import report_rows
from scaletui.view.live_trend import trend_rows
from scaletui.view.live_wave import wave_rows
from scaletui.view.pen import Pen
from scaletui.view.time_of_day import time_of_day, when
from scaletui_engine.live.evidence import What
from scaletui_engine.live.fault import Fault, RingFault
from scaletui_engine.live.header import Process
from scaletui_engine.live.held import NOTHING
from scaletui_engine.live.predicted import NO_PLAN
from scaletui_engine.live.snapshot import Moment, Snapshot
from scaletui_probe.layout import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import JobView, RankView

PEN = Pen(ASCII)
DAY_NS = 86_400 * S
NOON_NS = 20_000 * DAY_NS + DAY_NS // 2


def text(rows: tuple[Row, ...]) -> list[str]:
    return ["".join(span.text for span in row).rstrip() for row in rows]


def at(seconds: float, *jobs: JobView) -> Snapshot:
    return Snapshot(Moment(int(seconds * S), NOON_NS + int(seconds * S)), jobs, (), ())


@pytest.mark.parametrize(
    ("before_ns", "told"),
    [
        (0, "12:00 UTC"),
        (61 * S, "11:58 UTC"),
        (DAY_NS // 2, "00:00 UTC"),
        (DAY_NS // 2 + 1, "2024-10-03"),
        (NOON_NS, "1970-01-01"),
        (1 << 64, "1970-01-01"),
        (-(1 << 80), "9999-12-31"),
    ],
)
def test_what_is_over_is_told_by_the_clock(before_ns: int, told: str) -> None:
    assert when(NOON_NS - before_ns, NOON_NS) == told


def test_a_file_may_tell_any_number_for_a_time() -> None:
    assert time_of_day(1 << 90) == "23:59:59 UTC"


def test_nothing_ticks_of_a_job_that_has_ended(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    ranks = [make_rank(number, what=What.KILLED, detail="SIGKILL", last_wall_ns=NOON_NS) for number in (0, 1)]
    box, seen = Box(80, 20), set()
    for seconds in (10, 11, 40, 3_000, 40_000):
        state = arrived(LiveState(), at(seconds, job_of(*ranks)))
        seen.add((*text(alert_rows(state, box, PEN)), *text(ranks_rows(state, box, PEN))))
    (rows,) = seen
    assert rows[0].startswith(" ! ranks 0, 1: killed (SIGKILL)")
    assert rows[0].endswith("12:00 UTC  a seen")
    assert rows[2].endswith("killed (SIGKILL)  12:00 UTC")


def test_reports_nvitop_106_a_row_folds_a_minute_after_its_rank_ended(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    """However long it had been silent before; and whoever asks for it still sees it."""
    runs, dead = (make_rank(1, path="r1", last_ns=0, what=what) for what in (What.NOTHING, What.KILLED))
    other = make_rank(0)
    state = arrived(LiveState(), at(100, job_of(other, runs)))
    for seconds, count in ((130, 2), (189, 2), (190, 1), (9_000, 1)):
        state = arrived(state, at(seconds, job_of(other, dead)))
        assert len(ordered(state)) == count
    assert text(ranks_rows(state, Box(80, 9), PEN))[0].startswith(
        "- ranks by headroom, 1 ended (state:dead) -"
    )
    assert [found.identity.rank for found in folded_ranks(state)] == [1]
    assert ordered(filtered(state, "state:dead")) == (dead,)
    assert rank(rank_of_number(state, 1)) == dead
    assert "rank 1: killed" in text(answer_rows(state, 80, PEN))[0]


def test_a_rank_that_ended_before_anybody_looked_folds_by_its_last_word(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    dead = make_rank(1, path="r1", last_ns=40 * S, what=What.KILLED)
    for seconds, count in ((99, 2), (100, 1)):
        assert len(ordered(arrived(LiveState(), at(seconds, job_of(make_rank(0), dead))))) == count


def test_a_replay_that_goes_back_unfolds(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    found = job_of(make_rank(0), make_rank(1, path="r1", last_ns=40 * S, what=What.KILLED))
    state = arrived(arrived(LiveState(), at(200, found)), at(41, found))
    assert len(ordered(state)) == 2


def test_a_job_that_has_ended_keeps_its_rows(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    found = job_of(*(make_rank(number, path=f"r{number}", what=What.KILLED) for number in (0, 1)))
    assert len(ordered(arrived(LiveState(), at(1_000_000, found)))) == 2


def test_the_job_and_the_rank_of_a_process_are_looked_at_once_they_are_there(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    """By its start too: a number is used again."""
    again, sought = ({"process": Process(7, start)} for start in (1, 2))
    first = job_of(make_rank(0, identity=again), name="a")
    second = job_of(make_rank(0), make_rank(3, identity=sought), name="b")
    state = arrived(LiveState(sought=(7, 2)), at(1, first))
    assert (state.job, state.rank) == (None, None)
    state = arrived(state, at(2, first, second))
    assert (state.job, state.rank, state.sought) == ("b", 3, None)
    assert {alert.job for alert in state.alerts} <= {"b"}


def test_the_job_that_is_followed_does_not_make_room_for_another_before_its_end_was_seen(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    ends = {what: job_of(make_rank(0, what=what), name="a") for what in (What.KILLED, What.FINISHED)}
    runs, other = job_of(make_rank(0), name="a"), job_of(make_rank(0), name="b")
    both = arrived(arrived(LiveState(), at(1, runs)), at(2, other, runs))
    fallen = arrived(both, at(3, other, ends[What.KILLED]))
    for state, name in (
        (both, "a"),
        (fallen, "a"),
        (arrived(fallen, at(4, other, ends[What.KILLED])), "a"),
        (acknowledge(fallen), "b"),
        (arrived(acknowledge(fallen), at(4, other, ends[What.KILLED])), "b"),
        (arrived(both, at(3, other, ends[What.FINISHED])), "b"),
        (arrived(both, at(3, other)), "b"),
        (arrived(arrived(LiveState(), at(1, ends[What.KILLED])), at(2, other, ends[What.KILLED])), "b"),
        (arrived(other_job(both, -1), at(3, runs, other)), "b"),
    ):
        looked_at = job(state)
        assert looked_at is not None
        assert looked_at.id == name


def test_a_job_that_falls_while_another_one_is_looked_at_is_told(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    first, second = (job_of(make_rank(0), name=name) for name in ("a", "b"))
    dead, done = (job_of(make_rank(0, what=what), name="b") for what in (What.KILLED, What.FINISHED))
    both = arrived(LiveState(), at(1, first, second))
    fallen = arrived(both, at(2, first, dead))
    answers = [
        text(answer_rows(state, 120, PEN))[0]
        for state in (fallen, arrived(fallen, at(3, first, dead)), arrived(both, at(2, first, done)))
    ]
    assert [answer.endswith("job 1 of 2  ! 1 other fell") for answer in answers] == [True, True, False]
    assert arrived(LiveState(), at(2, first, dead)).fallen == frozenset()
    assert arrived(other_job(fallen, 1), at(3, first, dead)).fallen == frozenset()


def test_rings_that_are_not_read_are_told_beside_a_job(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    faults = tuple(RingFault(f"/rings/{number}", Fault.FOREIGN) for number in range(6))
    look = replace(at(10, job_of(make_rank(0))), faults=faults)
    assert fault_facts(look) == ("6 rings not read (belongs to somebody else)",)
    assert fault_facts(replace(look, faults=())) == fault_facts(None) == ()
    report = text(tuple(report_rows(look, 80, PEN)))
    assert " /rings/3 belongs to somebody else" in report
    assert " 2 more rings not read" in report
    assert not any("/rings/4" in row for row in report)


def test_steps_that_nobody_tells_of_are_not_called_none(
    make_rank: Callable[..., RankView], job_of: Callable[..., JobView]
) -> None:
    fields = {"step": None, "step_ns": None, "measured": NOTHING, "prediction": NO_PLAN, "plan": None}
    box = Box(78, 20)
    for reason, step, plan in (
        (Reason.COMPILED, "steps out of sight: torch.compile", "whose hooks torch.compile"),
        (Reason.CAPTURED, "steps out of sight: CUDA graph", "whose hooks a CUDA graph"),
        (Reason.NO_STEP_YET, "no step yet", "first"),
    ):
        found = make_rank(0, states_reason=reason, **fields)
        state = arrived(LiveState(), at(10, job_of(found)))
        assert step in text(answer_rows(state, 80, PEN))[0]
        assert step in " ".join(text(trend_rows(state, box, PEN)))
        for draw in (compare_rows, fit_rows, rank_rows):
            assert plan in " ".join(text(draw(state, box, PEN)))
        assert plan in " ".join(text(wave_rows(found, box, PEN)))
