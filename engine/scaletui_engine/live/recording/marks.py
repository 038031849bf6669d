"""What happened between two looks that is worth a mark on a time line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.evidence import RankState, What
from scaletui_probe.layout import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.live.snapshot import Happening, JobView, RankView, Snapshot


class MarkKind(StrEnum):
    """What a mark stands for."""

    START = "start"
    """A job that was not there before; those of the first look were."""
    RESTART = "restart"
    """The job began another attempt."""
    OUT_OF_MEMORY = "out of memory"
    """The allocator found no memory; a job that catches it goes on."""
    RETRY = "retry"
    """The allocator emptied its cache and tried again."""
    EXCEPTION = "exception"
    """An uncaught exception; the word is its class."""
    EXIT = "exit"
    """A rank ended in order."""
    DEATH = "death"
    """A rank ended in any other way; the word is the verdict on it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened, at the look that showed it first."""

    monotonic_ns: int
    wall_ns: int
    job: str
    rank: int | None
    """None where it is the whole job's."""
    kind: MarkKind
    word: str = ""


_EVENTS: Final = {
    Event.OOM: MarkKind.OUT_OF_MEMORY,
    Event.ALLOC_RETRY: MarkKind.RETRY,
    Event.EXCEPTION: MarkKind.EXCEPTION,
}


def marks_between(old: Snapshot | None, new: Snapshot) -> Iterator[Mark]:
    """Marks of what the new look shows and the old one does not."""
    before = {} if old is None else {job.id: job for job in old.jobs}
    for job in new.jobs:
        known = before.get(job.id)
        if known is job:
            continue
        if known is None and old is not None:
            yield _mark(new, job, None, (MarkKind.START, ""))
        elif known is not None and known.attempt != job.attempt:
            yield _mark(new, job, None, (MarkKind.RESTART, str(job.attempt)))
        same_attempt = known is not None and known.attempt == job.attempt
        ranks = {rank.identity.rank: rank for rank in known.ranks} if known and same_attempt else {}
        for rank in job.ranks:
            for found in _of_rank(ranks.get(rank.identity.rank), rank):
                yield _mark(new, job, rank.identity.rank, found)


def _mark(look: Snapshot, job: JobView, rank: int | None, found: tuple[MarkKind, str]) -> Mark:
    return Mark(look.moment.monotonic_ns, look.moment.wall_ns, job.id, rank, *found)


def _of_rank(old: RankView | None, new: RankView) -> Iterator[tuple[MarkKind, str]]:
    if old is new:
        return
    seen: tuple[Happening, ...] = () if old is None else old.happenings
    for happening in new.happenings:
        if happening not in seen and happening.event in _EVENTS:
            yield _EVENTS[happening.event], happening.text
    if new.verdict.state is not RankState.RUNNING and (old is None or old.verdict != new.verdict):
        ended = MarkKind.EXIT if new.verdict.what is What.FINISHED else MarkKind.DEATH
        yield ended, str(new.verdict.what)
