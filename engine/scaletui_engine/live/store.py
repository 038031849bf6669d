"""Keeps what the sources bring: the newest of every rank, a bounded past, and the jobs they make up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import RankState, Verdict
from scaletui_engine.live.snapshot import JobView, Moment, RankView, Snapshot
from scaletui_engine.live.tracked import PlanReader, TrackedRank
from scaletui_engine.live.verdict import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.live.process import Host
    from scaletui_engine.live.source import SourceUpdate

PLAIN: Final = Verdict(RankState.RUNNING)
"""The verdict on a rank that nothing has to be said of; it bears on no other rank's."""
PLAN_BYTES: Final = 1 << 20
"""Plans of 20 ranks with 300 parameters each: a tenth of a second."""
_ORDER: Final = {RankState.RUNNING: 0, RankState.LOST: 1, RankState.EXITED: 2}


class Store:
    """Every rank whose ring is there, followed over time. Not for more than one thread."""

    def __init__(self, host: Host, plan_bytes: int | None = None) -> None:
        self._host = host
        self.plan_bytes = plan_bytes
        """The most bytes of plans that one look reads, so that a thousand ranks keep no screen waiting: the
        rest follows at later looks. None reads all."""
        self._ranks: dict[str, TrackedRank] = {}
        self._attempts: dict[str, dict[int, tuple[TrackedRank, ...]]] | None = None
        """Job, attempt, ranks by number; None when a ring has come, gone or changed its header."""

    def take(self, update: SourceUpdate, moment: Moment) -> Snapshot:
        """Take what a source brought and look at all of it."""
        ranks, reader = self._ranks, PlanReader(self.plan_bytes)
        present = {item.reading.path for item in update.rings} | {fault.path for fault in update.faults}
        for path in ranks.keys() - present:
            del ranks[path]
            self._attempts = None
        for item in update.rings:
            tracked = ranks.get(item.reading.path)
            if tracked is None:
                tracked = ranks[item.reading.path] = TrackedRank(item, self._host)
                self._attempts = None
            elif tracked.header is not item.reading.header:
                self._attempts = None
            tracked.take(item, moment.monotonic_ns, reader)
        return Snapshot(moment, self._jobs(moment), update.places, update.faults)

    def _jobs(self, moment: Moment) -> tuple[JobView, ...]:
        if self._attempts is None:
            self._attempts = _by_attempt(self._ranks.values())
        jobs = (_job(job, found, moment) for job, found in self._attempts.items())
        return tuple(sorted(jobs, key=lambda job: (_ORDER[job.state], -job.created_wall_ns, job.id)))


def _by_attempt(ranks: Iterable[TrackedRank]) -> dict[str, dict[int, tuple[TrackedRank, ...]]]:
    """Job, attempt, ranks by number; a rank that began twice in an attempt is the one that began last."""
    found: dict[str, dict[int, dict[int, TrackedRank]]] = {}
    for tracked in ranks:
        job, attempt, rank = tracked.key
        same = found.setdefault(job, {}).setdefault(attempt, {})
        same[rank] = _later(same[rank], tracked) if rank in same else tracked
    return {
        job: {number: tuple(ranks[rank] for rank in sorted(ranks)) for number, ranks in attempts.items()}
        for job, attempts in found.items()
    }


def _later(one: TrackedRank, other: TrackedRank) -> TrackedRank:
    """The one that began last: in one boot by the clock that nobody sets back, else by that on the wall."""
    first, second = one.header, other.header
    is_one_boot = first.identity.boot_id == second.identity.boot_id != ""
    if is_one_boot and first.created_monotonic_ns != second.created_monotonic_ns:
        return other if second.created_monotonic_ns > first.created_monotonic_ns else one
    return other if second.created_wall_ns >= first.created_wall_ns else one


def _job(job_id: str, attempts: dict[int, tuple[TrackedRank, ...]], moment: Moment) -> JobView:
    """The last attempt of a job."""
    attempt = max(attempts)
    tracked = attempts[attempt]
    now_ns = moment.monotonic_ns
    doubtful = [rank for rank in tracked if not rank.is_plain(now_ns)]
    judged = dict(zip(map(id, doubtful), verdicts([rank.evidence(now_ns) for rank in doubtful]), strict=True))
    ranks = tuple([rank.view(judged.get(id(rank), PLAIN)) for rank in tracked])
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
