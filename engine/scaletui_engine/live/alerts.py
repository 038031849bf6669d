"""What a person has to know of a job even when it was over before they looked: alerts that stay for a while.

What is serious stays until it is acknowledged; what comes and goes stays half a minute after it was last so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.forecast import trend_of
from scaletui_engine.live.judgement import is_troubled, used_share, worst
from scaletui_engine.live.skew import Lag, stragglers
from scaletui_probe.layout import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.snapshot import JobView, Moment, RankView

STAY_NS: Final = 30_000_000_000
NARROW: Final = 0.95
"""A rank that has used so much of its device at its peak is short of room."""
SOON_S: Final = 1800.0
"""An end of the memory that is nearer than this is worth an alert."""


class AlertKind(StrEnum):
    """What an alert is about."""

    TROUBLE = "trouble"
    """Something happened to ranks; `what` says what."""
    OUT_OF_MEMORY = "out of memory"
    """An allocation failed, and the process lives."""
    RETRIES = "allocator retries"
    GROWTH = "growth"
    """Memory grows and will be used up within half an hour."""
    NARROW = "little room"
    STRAGGLER = "straggler"
    QUIET = "probe gave up"

    @property
    def is_serious(self) -> bool:
        """Whether it stays until somebody acknowledges it."""
        return self in (AlertKind.TROUBLE, AlertKind.OUT_OF_MEMORY, AlertKind.RETRIES, AlertKind.QUIET)


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that is or was so, and of which ranks."""

    job: str
    kind: AlertKind
    what: What
    ranks: tuple[int, ...]
    """By number."""
    detail: str
    """A signal, the class of an exception."""
    begun_ns: int
    seen_ns: int
    """Monotonic time at which it was last so."""
    ended_wall_ns: int | None = None
    """The last word of ranks that have all ended, which no clock makes older; None while one may live."""
    is_acknowledged: bool = False

    @property
    def key(self) -> tuple[str, AlertKind, What]:
        """What makes it the same alert a look later."""
        return self.job, self.kind, self.what

    def age_s(self, moment: Moment) -> float:
        """Seconds since it began."""
        return max(moment.monotonic_ns - self.begun_ns, 0) / 1e9


def alerts_after(before: tuple[Alert, ...], job: JobView, moment: Moment) -> tuple[Alert, ...]:
    """The alerts at this look, in the order in which they began; those of other jobs stay as they are."""
    now_ns = moment.monotonic_ns
    current = {alert.key: alert for alert in _current(job, moment)}
    kept: list[Alert] = []
    for alert in before:
        fresh = current.pop(alert.key, None)
        if fresh is not None:
            kept.append(_renewed(alert, fresh))
        elif alert.job != job.id or _stays(alert, now_ns):
            kept.append(alert)
    return (*kept, *current.values())


def acknowledged(alerts: tuple[Alert, ...]) -> tuple[Alert, ...]:
    """All of them, seen by somebody; those that are still so stay out of sight until they spread."""
    return tuple(replace(alert, is_acknowledged=True) for alert in alerts)


def _renewed(alert: Alert, fresh: Alert) -> Alert:
    """The same alert now; more ranks than were acknowledged make it news again."""
    spreads = not set(fresh.ranks) <= set(alert.ranks)
    ranks = fresh.ranks if spreads or not alert.kind.is_serious else alert.ranks
    return replace(
        fresh, begun_ns=alert.begun_ns, ranks=ranks, is_acknowledged=alert.is_acknowledged and not spreads
    )


def _stays(alert: Alert, now_ns: int) -> bool:
    if alert.is_acknowledged:
        return False
    return alert.kind.is_serious or now_ns - alert.seen_ns < STAY_NS


def _current(job: JobView, moment: Moment) -> Iterator[Alert]:
    """What befell a rank began when it was last heard of, which may be long before anybody looked."""
    now_ns = moment.monotonic_ns
    for kind, what, ranks in _found(job):
        if not ranks:
            continue
        is_trouble = kind is AlertKind.TROUBLE
        age_s = max(rank.age_s(moment) for rank in ranks) if is_trouble else 0.0
        yield Alert(
            job.id, kind, what, tuple(rank.identity.rank for rank in ranks),
            ranks[0].verdict.detail if is_trouble else "", now_ns - int(age_s * 1e9), now_ns,
            _ended_wall_ns(ranks),
        )  # fmt: skip


def _ended_wall_ns(ranks: list[RankView]) -> int | None:
    """When the first of them was last heard of, where all have ended."""
    has_ended = all(rank.verdict.state is RankState.EXITED for rank in ranks)
    return min(rank.last_wall_ns for rank in ranks) if has_ended else None


def _found(job: JobView) -> Iterator[tuple[AlertKind, What, list[RankView]]]:
    by_what: dict[What, list[RankView]] = {}
    for rank in job.ranks:
        if is_troubled(rank):
            by_what.setdefault(rank.verdict.what, []).append(rank)
    for what, ranks in by_what.items():
        yield AlertKind.TROUBLE, what, ranks
    running = [
        rank for rank in job.ranks if rank.verdict.state is RankState.RUNNING and not is_troubled(rank)
    ]
    for kind, ranks in _of_the_living(job, running):
        yield kind, What.NOTHING, ranks


def _of_the_living(job: JobView, running: list[RankView]) -> Iterator[tuple[AlertKind, list[RankView]]]:
    yield AlertKind.OUT_OF_MEMORY, [rank for rank in running if _had(rank, Event.OOM)]
    yield AlertKind.QUIET, [rank for rank in running if _had(rank, Event.QUIET)]
    yield AlertKind.RETRIES, [rank for rank in running if rank.allocator and rank.allocator.retries]
    yield AlertKind.NARROW, [rank for rank in running if (used_share(rank) or 0.0) >= NARROW]
    slow = {found.rank for found in stragglers(job) if found.lag is not Lag.LATE}
    yield AlertKind.STRAGGLER, [rank for rank in running if rank.identity.rank in slow]
    first = worst(job)
    trend = trend_of(first)
    ends_soon = trend is not None and trend.seconds_left is not None and trend.seconds_left < SOON_S
    yield AlertKind.GROWTH, [first] if ends_soon else []


def _had(rank: RankView, event: Event) -> bool:
    return any(happening.event is event for happening in rank.happenings)
