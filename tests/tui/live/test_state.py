"""Choosing a job and a rank, and standing still."""

from __future__ import annotations

from scaletui.state import live as state_of
from scaletui.state.live import LiveState, arrived, other_job, other_rank, paused
from scaletui_engine.live.evidence import What


def test_the_worst_rank_is_followed_until_another_is_chosen(make_rank, make_state):
    state = make_state(make_rank(0), make_rank(1, what=What.KILLED), make_rank(2))
    assert [rank.identity.rank for rank in state_of.ordered(state)] == [1, 0, 2]
    assert state_of.rank(state).identity.rank == 1
    below = other_rank(state, 1)
    assert (below.rank, state_of.rank(below).identity.rank) == (0, 0)
    assert other_rank(below, -1).rank is None
    assert other_rank(other_rank(other_rank(below, 1), 1), 1).rank == 2


def test_jobs_end_at_their_ends_and_a_change_of_job_forgets_the_rank(make_rank, make_state, job_of):
    state = make_state(jobs=(job_of(make_rank(0)), job_of(make_rank(0), name="b")), rank=0)
    second = other_job(state, 1)
    assert (state_of.job(second).id, second.rank) == ("b", None)
    assert state_of.job(other_job(second, 1)).id == "b"
    assert state_of.job(other_job(second, -1)).id == "4f2a"


def test_a_job_that_is_gone_gives_way_to_the_first(make_rank, make_state):
    assert state_of.job(make_state(make_rank(0), job="none")).id == "4f2a"


def test_a_paused_picture_stands_still_and_goes_on_from_the_newest(make_rank, make_state):
    state, later = make_state(make_rank(0)), make_state(make_rank(0, step=5000)).shown
    still = arrived(paused(state), later)
    assert (still.shown, still.newest) == (state.shown, later)
    assert paused(still).shown is later


def test_nothing_there():
    state = LiveState()
    assert (state_of.job(state), state_of.rank(state), state_of.ordered(state)) == (None, None, ())
    assert other_rank(other_job(state, 1), 1) == state
