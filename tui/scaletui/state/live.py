"""What the live screen looks at: the snapshot, the chosen job and rank, and whether it stands still."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scaletui.state.live_fold import Endings, endings_after, folded
from scaletui.state.live_heat import Measure
from scaletui.state.live_list import listed, worst_of
from scaletui_engine.compat import StrEnum
from scaletui_engine.live.alerts import acknowledged, alerts_after
from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.judgement import is_troubled
from scaletui_engine.live.order import Order

if TYPE_CHECKING:
    from scaletui_engine.live.alerts import Alert
    from scaletui_engine.live.outcome import Batch
    from scaletui_engine.live.snapshot import JobView, RankView, Snapshot


class Page(StrEnum):
    """What stands in the first column."""

    LIST = "list"
    """Ranks as bars, the comparison and the trend."""
    HEAT = "heat"
    """All ranks as a map."""
    RANK = "rank"
    """One rank: its past and its units."""
    FIT = "fit"
    """What would make the job need less."""


@dataclass(frozen=True, slots=True)
class LiveState:
    """One picture of the live screen."""

    shown: Snapshot | None = None
    """None until the first look at the rings."""
    newest: Snapshot | None = None
    """The same as `shown`, but for a picture that stands still."""
    job: str | None = None
    """The job that is looked at; None follows the first one."""
    stays: bool = False
    """Whether that job was not chosen, but is followed for as long as there is news of it."""
    rank: int | None = None
    """The rank that is looked at; None follows the first in the list."""
    paused: bool = False
    order: Order = Order.HEADROOM
    filter: str = ""
    """What was typed to see fewer ranks; empty shows all."""
    page: Page = Page.LIST
    under: Page = Page.LIST
    """The page that a closer look goes back to."""
    measure: Measure = Measure.USED
    """What the map is coloured by."""
    alerts: tuple[Alert, ...] = ()
    """Of every job that was looked at, in the order in which they were raised."""
    batches: tuple[tuple[str, Batch], ...] = ()
    """Job -> micro-batch and sequence as a person told them."""
    fallen: frozenset[str] = frozenset()
    """Jobs that something befell while nobody looked at them."""
    sought: tuple[int, int] | None = None
    """A process, by its number and its start in ticks, whose rank is looked for; None once it is found."""
    endings: Endings = field(default_factory=Endings)
    """Since when ranks are over."""


def arrived(state: LiveState, snapshot: Snapshot) -> LiveState:
    """The state with a new snapshot, which a paused picture does not show; alerts go on being raised."""
    later = replace(
        state,
        newest=snapshot,
        shown=state.shown if state.paused else snapshot,
        endings=endings_after(state.endings, snapshot),
    )
    later = _stayed(_found(later, snapshot), state, snapshot)
    looked_at = _looked_at(later)
    if looked_at is None:
        return later
    alerts = alerts_after(state.alerts, looked_at, snapshot.moment)
    return replace(later, alerts=alerts, fallen=_fallen(state, snapshot) - {looked_at.id})


def _found(state: LiveState, snapshot: Snapshot) -> LiveState:
    """Looking at the rank of the process that is sought, where the snapshot has it."""
    for job in snapshot.jobs if state.sought is not None else ():
        for rank in job.ranks:
            process = rank.identity.process
            if (process.pid, process.start_ticks) == state.sought:
                return replace(state, job=job.id, stays=False, rank=rank.identity.rank, sought=None)
    return state


def _stayed(later: LiveState, before: LiveState, snapshot: Snapshot) -> LiveState:
    """Looking at the job that is followed for as long as it runs, and after that where something befell it:
    one that has just begun does not take its place."""
    looked_at = _looked_at(before)
    if looked_at is None or (later.job is not None and not later.stays):
        return later
    now = next((job for job in snapshot.jobs if job.id == looked_at.id), None)
    is_kept = now is not None and (now.state is RankState.RUNNING or any(map(is_troubled, now.ranks)))
    if not is_kept or not (later.stays or looked_at.state is RankState.RUNNING):
        return replace(later, job=None, stays=False)
    return replace(later, job=looked_at.id, stays=True)


def _fallen(before: LiveState, snapshot: Snapshot) -> frozenset[str]:
    """The jobs that fell before or since the last look, and that are still there."""
    past = () if before.newest is None else before.newest.jobs
    ran = {job.id for job in past if job.state is RankState.RUNNING}
    over = [job for job in snapshot.jobs if job.state is not RankState.RUNNING]
    fell = {job.id for job in over if job.id in ran and any(map(is_troubled, job.ranks))}
    return (before.fallen | fell).intersection(job.id for job in over)


def _looked_at(state: LiveState) -> JobView | None:
    """The job that is looked at in the newest snapshot."""
    found = () if state.newest is None else state.newest.jobs
    return next((job for job in found if job.id == state.job), next(iter(found), None))


def acknowledge(state: LiveState) -> LiveState:
    """Every alert has been seen; a job that was only followed is left for one that runs."""
    job = None if state.stays else state.job
    return replace(state, alerts=acknowledged(state.alerts), job=job, stays=False)


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
    """The job's ranks that the filter lets pass, in the order that was asked for; without one, those whose
    rows have not folded away."""
    looked_at = job(state)
    if looked_at is None or state.shown is None:
        return ()
    found = listed(looked_at, state.shown.moment, state.order, state.filter)
    away = {rank.path for rank in folded_ranks(state)}
    return tuple(rank for rank in found if rank.path not in away) if away else found


def folded_ranks(state: LiveState) -> tuple[RankView, ...]:
    """The ranks that ended a minute ago or more, by number; neither one that is looked at nor any that a
    person asks for by a filter."""
    looked_at = job(state)
    if looked_at is None or state.shown is None or state.filter:
        return ()
    away = folded(state.endings, looked_at, state.shown.moment)
    ranks = looked_at.ranks if away else ()
    return tuple(rank for rank in ranks if rank.path in away and rank.identity.rank != state.rank)


def worst_rank(state: LiveState) -> RankView | None:
    """The rank in most trouble, whatever the filter."""
    looked_at = job(state)
    return None if looked_at is None or state.shown is None else worst_of(looked_at, state.shown.moment)


def rank_index(state: LiveState) -> int:
    """The place of the rank that is looked at among the ordered ones."""
    if state.rank is None:
        return 0
    return next((i for i, rank in enumerate(ordered(state)) if rank.identity.rank == state.rank), 0)


def rank(state: LiveState) -> RankView | None:
    """The rank that is looked at; the worst one where the filter lets none pass."""
    found = ordered(state)
    return found[rank_index(state)] if found else worst_rank(state)


def other_rank(state: LiveState, direction: int) -> LiveState:
    """The rank below or above; at the top the first one is followed again, whichever that is."""
    found = ordered(state)
    if not found:
        return state
    return rank_at(state, min(max(rank_index(state) + direction, 0), len(found) - 1))


def rank_at(state: LiveState, place: int) -> LiveState:
    """Look at the rank in that place of the ordered ones; the first place follows the first."""
    return replace(state, rank=ordered(state)[place].identity.rank if place else None)


def other_job(state: LiveState, direction: int) -> LiveState:
    """The next or the previous job; the list ends at its ends."""
    found = jobs(state)
    if not found:
        return state
    place = min(max(job_index(state) + direction, 0), len(found) - 1)
    return replace(state, job=found[place].id, stays=False, rank=None)


def other_order(state: LiveState) -> LiveState:
    """The ranks in the next order, from its first on."""
    orders = tuple(Order)
    return replace(state, order=orders[(orders.index(state.order) + 1) % len(orders)], rank=None)


def filtered(state: LiveState, text: str) -> LiveState:
    """Only the ranks that the text lets pass, from the first on; all of them with an empty one."""
    return replace(state, filter=text.strip(), rank=None)


def turned(state: LiveState, page: Page) -> LiveState:
    """Turn to a page, or back to where one came from when it is open."""
    if state.page is page:
        return back(state)
    under = state.page if state.page in (Page.LIST, Page.HEAT) else state.under
    return replace(state, page=page, under=under if page is not Page.HEAT else Page.LIST)


def back(state: LiveState) -> LiveState:
    """One page up; from the list the filter is taken off."""
    if state.page in (Page.RANK, Page.FIT):
        return replace(state, page=state.under)
    if state.page is Page.HEAT:
        return replace(state, page=Page.LIST)
    return filtered(state, "") if state.filter else state


def other_measure(state: LiveState) -> LiveState:
    """Colour the map by the next measure."""
    measures = tuple(Measure)
    return replace(state, measure=measures[(measures.index(state.measure) + 1) % len(measures)])


def rank_of_number(state: LiveState, number: int) -> LiveState:
    """Look at the rank of that number."""
    return replace(state, rank=number)
