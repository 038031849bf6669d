"""What the live screen looks at: the snapshot, the chosen job and rank, and whether it stands still."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.live.judgement import worst

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import JobView, RankView, Snapshot


@dataclass(frozen=True, slots=True)
class LiveState:
    """One picture of the live screen."""

    shown: Snapshot | None = None
    """None until the first look at the rings."""
    newest: Snapshot | None = None
    """The same as `shown`, but for a picture that stands still."""
    job: str | None = None
    """The job that is looked at; None follows the first one."""
    rank: int | None = None
    """The rank that is looked at; None follows the worst one."""
    paused: bool = False


def arrived(state: LiveState, snapshot: Snapshot) -> LiveState:
    """The state with a new snapshot, which a paused picture does not show."""
    return replace(state, newest=snapshot, shown=state.shown if state.paused else snapshot)


def paused(state: LiveState) -> LiveState:
    """Stop the picture, or let it go on from the newest snapshot."""
    return replace(state, paused=not state.paused, shown=state.newest)


def jobs(state: LiveState) -> tuple[JobView, ...]:
    """Every job, running ones first."""
    return () if state.shown is None else state.shown.jobs


def job_index(state: LiveState) -> int:
    """The place of the job that is looked at; the first where the chosen one is gone."""
    return next((index for index, job in enumerate(jobs(state)) if job.id == state.job), 0)


def job(state: LiveState) -> JobView | None:
    """The job that is looked at."""
    found = jobs(state)
    return found[job_index(state)] if found else None


def ordered(state: LiveState) -> tuple[RankView, ...]:
    """The job's ranks, the worst first and the others by number."""
    looked_at = job(state)
    if looked_at is None:
        return ()
    first = worst(looked_at)
    return (first, *(rank for rank in looked_at.ranks if rank is not first))


def rank_index(state: LiveState) -> int:
    """The place of the rank that is looked at among the ordered ones."""
    return next((i for i, rank in enumerate(ordered(state)) if rank.identity.rank == state.rank), 0)


def rank(state: LiveState) -> RankView | None:
    """The rank that is looked at."""
    found = ordered(state)
    return found[rank_index(state)] if found else None


def other_rank(state: LiveState, direction: int) -> LiveState:
    """The rank below or above; at the top the worst one is followed again."""
    found = ordered(state)
    if not found:
        return state
    return rank_at(state, min(max(rank_index(state) + direction, 0), len(found) - 1))


def rank_at(state: LiveState, place: int) -> LiveState:
    """Look at the rank in that place of the ordered ones; the first place follows the worst."""
    return replace(state, rank=ordered(state)[place].identity.rank if place else None)


def other_job(state: LiveState, direction: int) -> LiveState:
    """The next or the previous job; the list ends at its ends."""
    found = jobs(state)
    if not found:
        return state
    place = min(max(job_index(state) + direction, 0), len(found) - 1)
    return replace(state, job=found[place].id, rank=None)
