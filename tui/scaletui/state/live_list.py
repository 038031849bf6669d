"""The ranks of a job as a person wants to see them: sorted, filtered, and the worst of them known."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.live.judgement import largest_gap, worst
from scaletui_engine.live.order import Order, sorted_ranks
from scaletui_engine.live.rank_filter import rank_filter
from scaletui_engine.live.skew import memory_spread, stragglers, time_spread

if TYPE_CHECKING:
    from scaletui_engine.live.judgement import Difference
    from scaletui_engine.live.skew import Spread, Straggler
    from scaletui_engine.live.snapshot import JobView, Moment, RankView


class _Same:
    """One look at a job, equal to itself alone: comparing a thousand ranks costs more than sorting them."""

    __slots__ = ("job", "moment")

    def __init__(self, job: JobView, moment: Moment) -> None:
        self.job = job
        self.moment = moment

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.job is other.job

    def __hash__(self) -> int:
        return id(self.job)


def listed(job: JobView, moment: Moment, order: Order, text: str) -> tuple[RankView, ...]:
    """The ranks that a filter's text lets pass, in that order; by headroom the very worst comes first."""
    return _listed(_Same(job, moment), order, text)


def worst_of(job: JobView, moment: Moment) -> RankView:
    """The rank in most trouble."""
    return _worst(_Same(job, moment))


def gap_of(job: JobView, moment: Moment) -> Difference | None:
    """What is furthest from its prediction."""
    return _gap(_Same(job, moment))


def skew_of(job: JobView, moment: Moment) -> tuple[Spread | None, Spread | None, tuple[Straggler, ...]]:
    """How far ranks are from each other in memory and in time, and who keeps the others waiting."""
    return _skew(_Same(job, moment))


@lru_cache(2)
def _listed(same: _Same, order: Order, text: str) -> tuple[RankView, ...]:
    found = rank_filter(text).of(sorted_ranks(same.job.ranks, order, same.moment))
    first = _worst(same)
    if order is Order.HEADROOM and any(rank is first for rank in found):
        return (first, *(rank for rank in found if rank is not first))
    return found


@lru_cache(2)
def _worst(same: _Same) -> RankView:
    return worst(same.job)


@lru_cache(2)
def _gap(same: _Same) -> Difference | None:
    return largest_gap(same.job)


@lru_cache(2)
def _skew(same: _Same) -> tuple[Spread | None, Spread | None, tuple[Straggler, ...]]:
    return memory_spread(same.job), time_spread(same.job), stragglers(same.job)
