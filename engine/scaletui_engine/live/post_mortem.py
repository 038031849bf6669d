"""How a job ended: who fell first, who fell because of that, and what is known of each and what is not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.judgement import calm, is_troubled, last_word
from scaletui_engine.live.verdict import COMMUNICATION
from scaletui_probe.layout import Event

if TYPE_CHECKING:
    from scaletui_engine.live.history import Point
    from scaletui_engine.live.snapshot import Happening, JobView, RankView

SLACK_NS: Final = 2_000_000_000
"""How long a rank may have lived on after its last record, and how far clocks of two machines may differ."""
LAST_STEPS: Final = 5
FOLLOWERS: Final = (What.LOST_PEER, What.ENDED_BY_LAUNCHER)
"""What befalls a rank because another has fallen."""


@dataclass(frozen=True, slots=True)
class Departure:
    """The end of one rank."""

    rank: RankView
    wall_ns: int
    """When it told its end; where it told nothing, its last record, after which it may have lived on."""
    told: bool
    """Whether it said goodbye: an exception or an exit."""
    follows: bool
    """Whether it ended because another rank had."""


@dataclass(frozen=True, slots=True)
class PostMortem:
    """The ends of a job's ranks, what brought others down first, then by time."""

    departures: tuple[Departure, ...]
    still_there: int
    """Ranks that have not ended."""
    is_order_known: bool
    """Whether the first was certainly the first; true where nothing went wrong."""
    out_of_memory: tuple[RankView, Happening] | None
    """The first request that found no memory, with what the rank held then."""

    @property
    def in_order(self) -> bool:
        """Whether every rank ended as it should."""
        return not self.still_there and not any(is_troubled(item.rank) for item in self.departures)


def post_mortem(job: JobView) -> PostMortem | None:
    """What is known of a job's end; None while nobody has left, or only in order and not everybody."""
    ended = [rank for rank in job.ranks if rank.verdict.state is not RankState.RUNNING]
    first_ns = min((last_word(rank)[0] for rank in ended if _is_own_fault(rank)), default=None)
    gone = [_departure(rank, first_ns) for rank in ended]
    still_there = len(job.ranks) - len(gone)
    if not gone or (still_there and not any(is_troubled(item.rank) for item in gone)):
        return None
    told_ns = min((item.wall_ns for item in gone if item.told and _is_own_fault(item.rank)), default=None)
    ordered = tuple(sorted(gone, key=lambda item: _order(item, told_ns)))
    return PostMortem(ordered, still_there, _is_known(ordered), _out_of_memory(job))


def last_steps(rank: RankView) -> tuple[Point, ...]:
    """The last ones that it made."""
    return rank.history[-LAST_STEPS:]


def _departure(rank: RankView, first_ns: int | None) -> Departure:
    """`first_ns`: when the first rank fell by a fault of its own, None where none did."""
    wall_ns, told = last_word(rank)
    is_later = first_ns is not None and wall_ns > first_ns
    lost_others = rank.verdict.what is What.EXCEPTION and rank.verdict.detail in COMMUNICATION
    return Departure(rank, wall_ns, told, rank.verdict.what in FOLLOWERS or (lost_others and is_later))


def _is_own_fault(rank: RankView) -> bool:
    """Whether it fell by anything but what PyTorch raises when others have gone."""
    what, detail = rank.verdict.what, rank.verdict.detail
    return (
        is_troubled(rank)
        and what not in FOLLOWERS
        and not (what is What.EXCEPTION and detail in COMMUNICATION)
    )


def _order(item: Departure, told_ns: int | None) -> tuple[bool, bool, bool, int, int, int]:
    """Causes before what follows from them, both by time; those that ended in order last.

    A rank that may have been killed or only ended comes behind one that told at about that time of a fault of
    its own; it is doubted all the same who was first.
    """
    rank, what = item.rank, item.rank.verdict.what
    is_later = told_ns is not None and item.wall_ns > told_ns - SLACK_NS
    may_follow = what is What.KILLED_OR_ENDED and is_later
    return not is_troubled(rank), item.follows, may_follow, item.wall_ns, calm(what), rank.identity.rank


def _is_known(ordered: tuple[Departure, ...]) -> bool:
    """Whether the order of the first two is beyond doubt: by what befell the second, or by their times."""
    fallen = [item for item in ordered if is_troubled(item.rank)]
    for first, second in list(pairwise(fallen))[:1]:
        apart_ns = second.wall_ns - first.wall_ns
        is_same_clock = first.rank.identity.host == second.rank.identity.host
        exact = first.told and second.told and is_same_clock
        return second.follows or (apart_ns > 0 if exact else apart_ns > SLACK_NS)
    return True


def _out_of_memory(job: JobView) -> tuple[RankView, Happening] | None:
    found = [
        (rank, happening)
        for rank in job.ranks
        for happening in rank.happenings
        if happening.event is Event.OOM or _is_out_of_memory(rank, happening)
    ]
    return min(found, key=lambda item: item[1].wall_ns, default=None)


def _is_out_of_memory(rank: RankView, happening: Happening) -> bool:
    """The exception alone, where nobody could watch the allocator."""
    return happening.event is Event.EXCEPTION and rank.verdict.what is What.OUT_OF_MEMORY
