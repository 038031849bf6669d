"""The order in which ranks are listed. Figures that jitter are compared in steps, so that no list dances."""

from __future__ import annotations

from math import isinf, log
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.judgement import ease, held_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaletui_engine.live.snapshot import Moment, RankView

STEP_SHARE: Final = 20
"""Step times are alike within one part in so many."""
STEP_BYTES: Final = 64 << 20
"""Bytes are alike within so many."""


class Order(StrEnum):
    """What a list of ranks is sorted by; ranks that are alike go by number."""

    HEADROOM = "headroom"
    """Those in trouble first, by what befell them, then the least room at the peak."""
    RANK = "rank"
    STEP_TIME = "step time"
    """The slowest first."""
    RESERVED = "reserved"
    """The most first; without an allocator what was counted."""
    AGE = "age"
    """Who was silent for longest first."""


def sorted_ranks(ranks: Sequence[RankView], order: Order, moment: Moment) -> tuple[RankView, ...]:
    """The ranks in that order."""
    key = _KEYS[order]
    return tuple(sorted(ranks, key=lambda rank: (*key(rank, moment), rank.identity.rank)))


def _by_headroom(rank: RankView, moment: Moment) -> tuple[float, ...]:
    del moment
    calm, room, held = ease(rank)
    return calm, room if isinf(room) else room // STEP_BYTES, held // STEP_BYTES


def _by_rank(rank: RankView, moment: Moment) -> tuple[float, ...]:
    del moment
    return (rank.identity.rank,)


def _by_step_time(rank: RankView, moment: Moment) -> tuple[float, ...]:
    """On a logarithmic scale, on which one part in twenty is one step."""
    del moment
    return (-int(log(rank.step_ns) * STEP_SHARE) if rank.step_ns else 0,)


def _by_reserved(rank: RankView, moment: Moment) -> tuple[float, ...]:
    del moment
    allocator = rank.allocator
    reserved = None if allocator is None else allocator.reserved
    return (-((held_bytes(rank) if reserved is None else reserved) // STEP_BYTES),)


def _by_age(rank: RankView, moment: Moment) -> tuple[float, ...]:
    return (-(rank.age_s(moment) // 2),)


_KEYS: Final[dict[Order, Callable[[RankView, Moment], tuple[float, ...]]]] = {
    Order.HEADROOM: _by_headroom,
    Order.RANK: _by_rank,
    Order.STEP_TIME: _by_step_time,
    Order.RESERVED: _by_reserved,
    Order.AGE: _by_age,
}
