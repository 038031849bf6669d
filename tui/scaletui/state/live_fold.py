"""Ranks of a running job that ended a while ago leave its list, so that those that run have the room.

A job that has ended keeps all its rows: they are its post-mortem.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import RankState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot

FOLD_NS: Final = 60_000_000_000
"""A row of a rank that has ended stays that long."""


@dataclass(frozen=True, slots=True)
class Endings:
    """Since when the ranks that have ended are known to have."""

    since_ns: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Ring -> monotonic time at which its rank was first seen to be over; of one that was over before
    anybody looked, its last word."""
    running: frozenset[str] = frozenset()
    """Rings whose ranks ran at the last look."""


def endings_after(before: Endings, snapshot: Snapshot) -> Endings:
    """What is known of endings after a look; in a replay that went back nobody has ended later than now."""
    ranks = [rank for job in snapshot.jobs if job.state is RankState.RUNNING for rank in job.ranks]
    since_ns = {
        rank.path: _since_ns(before, rank, snapshot.moment)
        for rank in ranks
        if rank.verdict.state is RankState.EXITED
    }
    running = frozenset(rank.path for rank in ranks if rank.path not in since_ns)
    return Endings(MappingProxyType(since_ns), running)


def folded(endings: Endings, job: JobView, moment: Moment) -> frozenset[str]:
    """The rings of the ranks whose rows have folded away; none of a job that does not run."""
    if job.state is not RankState.RUNNING or not endings.since_ns:
        return frozenset()
    return frozenset(_folded(endings, job.ranks, moment))


def _folded(endings: Endings, ranks: Iterable[RankView], moment: Moment) -> Iterable[str]:
    for rank in ranks:
        since_ns = endings.since_ns.get(rank.path)
        if since_ns is not None and moment.monotonic_ns - since_ns >= FOLD_NS:
            yield rank.path


def _since_ns(before: Endings, rank: RankView, moment: Moment) -> int:
    known = before.since_ns.get(rank.path)
    if known is not None:
        return min(known, moment.monotonic_ns)
    if rank.path in before.running:
        return moment.monotonic_ns
    return moment.monotonic_ns - int(rank.age_s(moment) * 1e9)
