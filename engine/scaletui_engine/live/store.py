"""Keeps what the sources bring: the newest of every rank, a bounded past, and the jobs they make up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import RankState, Verdict
from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot
from scaletui_engine.live.tracked import TrackedRank
from scaletui_engine.live.verdict import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.live.process import Host
    from scaletui_engine.live.source import SourceUpdate

PLAIN: Final = Verdict(RankState.RUNNING)
"""The verdict on a rank that nothing has to be said of; it bears on no other rank's."""
_ORDER: Final = {RankState.RUNNING: 0, RankState.LOST: 1, RankState.EXITED: 2}


class Store:
    """Every rank whose ring is there, followed over time. Not for more than one thread."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._ranks: dict[str, TrackedRank] = {}

    def take(self, update: SourceUpdate, moment: Moment) -> Snapshot:
        """Take what a source brought and look at all of it."""
        present = {item.reading.path for item in update.rings} | {fault.path for fault in update.faults}
        for path in self._ranks.keys() - present:
            del self._ranks[path]
        for item in update.rings:
            path = item.reading.path
            if path not in self._ranks:
                self._ranks[path] = TrackedRank(item, self._host)
            self._ranks[path].take(item, moment.monotonic_ns)
        return Snapshot(moment, self._jobs(moment), update.places, update.faults)

    def _jobs(self, moment: Moment) -> tuple[JobView, ...]:
        attempts: dict[str, dict[int, dict[int, TrackedRank]]] = {}
        for tracked in sorted(self._ranks.values(), key=_created):
            job, attempt, rank = tracked.key
            attempts.setdefault(job, {}).setdefault(attempt, {})[rank] = tracked
        jobs = (_job(job, found, moment) for job, found in attempts.items())
        return tuple(sorted(jobs, key=lambda job: (_ORDER[job.state], -job.created_wall_ns, job.id)))


def _created(tracked: TrackedRank) -> int:
    return tracked.header.created_wall_ns


def _job(job_id: str, attempts: dict[int, dict[int, TrackedRank]], moment: Moment) -> JobView:
    """The last attempt of a job; a rank that began twice in it is the one that began last."""
    attempt = max(attempts)
    tracked = [attempts[attempt][rank] for rank in sorted(attempts[attempt])]
    now_ns = moment.monotonic_ns
    doubtful = [rank for rank in tracked if not rank.is_plain(now_ns)]
    judged = dict(zip(map(id, doubtful), verdicts([rank.evidence(now_ns) for rank in doubtful]), strict=True))
    ranks = tuple(rank.view(judged.get(id(rank), PLAIN)) for rank in tracked)
    return JobView(
        id=job_id,
        attempt=attempt,
        earlier_attempts=len(attempts) - 1,
        state=_state(ranks),
        world_size=ranks[0].identity.world_size,
        ranks=ranks,
    )


def _state(ranks: Iterable[RankView]) -> RankState:
    """A job runs while any rank does, and has ended when all have."""
    return min((rank.verdict.state for rank in ranks), key=_ORDER.__getitem__)
