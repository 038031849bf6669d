"""How far the ranks of a job are from each other, and which of them keep the others waiting."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, median_low
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.history import ALLOCATED, ENDS, MISSING, STEPS, TIMES
from scaletui_engine.live.judgement import held_bytes, is_troubled
from scaletui_engine.live.once import once_a_look

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence

    from scaletui_engine.live.snapshot import JobView, RankView

LAST_STEPS: Final = 8
"""Steps that are looked at for who is late."""
OFTEN: Final = 0.75
"""The share of them in which a rank was the last."""
SLOW_SHARE: Final = 1.15
"""A step time so much over the median is slow, where it is `LEAST_NS` more at least."""
LATE_SHARE: Final = 0.02
"""A rank that ends its steps by this share of a step after the median is late."""
LEAST_NS: Final = 5_000_000
BEHIND: Final = 2
"""Steps behind the median of the others that are worth a word."""

WITNESSES: Final = 32
"""Ranks by whose past it is told where a rank was among the others; more tell no more."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the median and the most of a figure, and whose the most is."""

    least: int
    median: int
    most: int
    rank: int

    @property
    def excess(self) -> int:
        """The most less the median."""
        return self.most - self.median


class Lag(StrEnum):
    """In what way a rank keeps the others waiting."""

    BEHIND = "behind"
    """It has made fewer steps."""
    SLOW = "slow"
    """Its steps take longer."""
    LATE = "late"
    """Its steps take as long as the others', because those wait for it: it is the last to end them."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank and the evidence against it."""

    rank: int
    lag: Lag
    amount: int
    """Steps behind; nanoseconds over the median of the step times, or of the ends of a step."""
    times: int = 0
    """In how many of the last `of` steps it was the last."""
    of: int = 0


def memory_spread(job: JobView) -> Spread | None:
    """Of the bytes that running ranks hold; None of fewer than two ranks."""
    return _spread([(held_bytes(rank), rank.identity.rank) for rank in _running(job)])


def time_spread(job: JobView) -> Spread | None:
    """Of the step times of running ranks, in nanoseconds; None of fewer than two."""
    return _spread([(rank.step_ns, rank.identity.rank) for rank in _running(job) if rank.step_ns])


def _running(job: JobView) -> Iterable[RankView]:
    return (rank for rank in job.ranks if rank.verdict.state is RankState.RUNNING)


def _spread(figures: Sequence[tuple[int, int]]) -> Spread | None:
    if len(figures) < 2:
        return None
    amounts = [amount for amount, _ in figures]
    most, rank = max(figures, key=lambda figure: (figure[0], -figure[1]))
    return Spread(min(amounts), median_low(amounts), most, rank)


@once_a_look
def stragglers(job: JobView) -> tuple[Straggler, ...]:
    """The ranks that keep the others waiting, the clearest evidence first; at most one word on each.

    Of a rank that hangs or has been halted more is known than that it is late.
    """
    ranks = [rank for rank in _running(job) if rank.step is not None and not is_troubled(rank)]
    if len(ranks) < 2:
        return ()
    found: dict[int, Straggler] = {}
    tails = _tails(ranks)
    for straggler in (*_behind(ranks), *_slow(ranks, tails), *_late(ranks, tails)):
        found.setdefault(straggler.rank, straggler)
    return tuple(found.values())


def _tails(ranks: Sequence[RankView]) -> list[array[int]]:
    """Of every rank the points up to the last step that all have made, and those of steps beyond it."""
    made = min(rank.step or 0 for rank in ranks)
    return [rank.lately(LAST_STEPS + min((rank.step or 0) - made, LAST_STEPS)) for rank in ranks]


def _behind(ranks: Sequence[RankView]) -> Iterable[Straggler]:
    """Rings are read one after the other while the job goes on: who is read first may only seem behind."""
    usual = median_low([rank.step or 0 for rank in ranks])
    others = ranks[:: max(len(ranks) // WITNESSES, 1)]
    for rank in ranks:
        missing = usual - (rank.step or 0)
        if missing >= BEHIND and rank.same_clock:
            missing = median_low([_step_at(other, rank.last_ns) for other in others]) - (rank.step or 0)
        if missing >= BEHIND:
            yield Straggler(rank.identity.rank, Lag.BEHIND, missing)


def _step_at(rank: RankView, until_ns: int) -> int:
    """The step that it had made by then, as far as is remembered."""
    if not rank.same_clock or not rank.history:
        return rank.step or 0
    known = (point.step for point in reversed(rank.history) if point.monotonic_ns <= until_ns)
    return next(known, rank.history[0].step)


def _slow(ranks: Sequence[RankView], tails: Sequence[array[int]]) -> Iterable[Straggler]:
    found = [(rank.identity.rank, _usual_time(tail)) for rank, tail in zip(ranks, tails, strict=True)]
    times = {number: time for number, time in found if time is not None}
    usual = median(times.values()) if times else 0
    for number, time in times.items():
        if time > SLOW_SHARE * usual and time - usual > LEAST_NS:
            yield Straggler(number, Lag.SLOW, int(time - usual))


def _usual_time(points: array[int]) -> float | None:
    """The median of the last step times, where there are enough of them."""
    times = sorted([time for time in points[TIMES][-LAST_STEPS:] if 0 < time < MISSING])
    count = len(times)
    return (times[(count - 1) // 2] + times[count // 2]) / 2 if count >= LAST_STEPS // 2 else None


def _late(ranks: Sequence[RankView], tails: Sequence[array[int]]) -> Iterable[Straggler]:
    """Only ends of steps that hooks told, by the one clock of a machine, can be laid side by side."""
    watched = [rank for rank in ranks if rank.same_clock]
    ends = [_ends(tail) for rank, tail in zip(ranks, tails, strict=True) if rank.same_clock]
    common = sorted(set(ends[0]).intersection(*ends))[-LAST_STEPS:] if len(ends) > 1 else []
    if len(common) < LAST_STEPS // 2:
        return
    columns = [[end[step] for end in ends] for step in common]
    lasts = [column.index(max(column)) for column in columns]
    place = max(set(lasts), key=lasts.count)
    if lasts.count(place) < OFTEN * len(common):
        return
    rank, after = watched[place], median([column[place] - median(column) for column in columns])
    if after > max(LEAST_NS, LATE_SHARE * (rank.step_ns or 0)):
        yield Straggler(rank.identity.rank, Lag.LATE, int(after), lasts.count(place), len(common))


def _ends(points: array[int]) -> dict[int, int]:
    """Step -> when it ended, of those whose end a hook told."""
    told = zip(points[STEPS], points[ENDS], points[ALLOCATED], strict=True)
    return {step: end for step, end, allocated in told if allocated != MISSING}
