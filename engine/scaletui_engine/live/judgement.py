"""Which rank matters most, how much room it has, and how far it is from what was predicted."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.once import once_a_look
from scaletui_engine.live.predicted import PREDICTED
from scaletui_probe.layout import Event

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import JobView, RankView

_MEASURED: Final = attrgetter(*PREDICTED)
_IN_PREDICTION: Final = attrgetter(*(f"held.{name}" for name in PREDICTED))
_UNTROUBLED: Final = (What.NOTHING, What.FINISHED)
_AT_EASE: Final = len(What)
_ENDLESS: Final = float("inf")
_LAST_WORDS: Final = (Event.EXCEPTION, Event.EXIT)


@dataclass(frozen=True, slots=True)
class Difference:
    """One category, predicted and measured."""

    category: str
    predicted: int
    measured: int

    @property
    def bytes(self) -> int:
        """Measured less predicted."""
        return self.measured - self.predicted

    @property
    def share(self) -> float:
        """The difference as a share of what was predicted; infinite where nothing was."""
        if self.bytes == 0:
            return 0.0
        return self.bytes / self.predicted if self.predicted else float("inf")


def differences(rank: RankView) -> tuple[Difference, ...]:
    """Every category that was both predicted and measured."""
    pairs = ((name, getattr(rank.prediction.held, name), getattr(rank.measured, name)) for name in PREDICTED)
    return tuple(
        Difference(name, predicted, measured)
        for name, predicted, measured in pairs
        if predicted is not None and measured is not None
    )


@once_a_look
def largest_gap(job: JobView) -> Difference | None:
    """The category of any rank that is furthest from its prediction, in bytes; None before there is any.

    Most ranks of a job are alike, and those that are need only be looked at once.
    """
    alike = {(_IN_PREDICTION(rank.prediction), _MEASURED(rank.measured)): rank for rank in job.ranks}
    found = [difference for rank in alike.values() for difference in differences(rank)]
    return max(found, key=lambda difference: abs(difference.bytes), default=None)


def headroom(rank: RankView) -> int | None:
    """Bytes that the allocator would still have had at its peak: driver free + reserved - peak allocated.

    The peak and not the moment, so that it does not jump with every sample. None without an allocator.
    """
    allocator = rank.allocator
    if allocator is None or rank.driver_free is None:
        return None
    reserved, peak = allocator.reserved, allocator.peak
    return None if reserved is None or peak is None else rank.driver_free + reserved - peak


def held_bytes(rank: RankView) -> int:
    """Bytes that the allocator has handed out; without one what was counted, now or at the last step."""
    allocator = rank.allocator
    if allocator is not None and allocator.allocated is not None:
        return allocator.allocated
    return max(rank.now.total, rank.measured.total)


def used_share(rank: RankView) -> float | None:
    """The share of the device that is not left at the peak; None without an allocator or a device."""
    room = headroom(rank)
    return None if room is None or not rank.driver_total else 1 - room / rank.driver_total


@once_a_look
def worst(job: JobView) -> RankView:
    """The rank in most trouble: by what happened to it and who it happened to first, then the least headroom,
    then the most bytes held."""
    return min(job.ranks, key=_trouble)


def _trouble(rank: RankView) -> tuple[int, int, float, int, int]:
    calm_place, room, held = ease(rank)
    fell_ns = last_word(rank)[0] if is_troubled(rank) else 0
    return calm_place, fell_ns, room, held, rank.identity.rank


def last_word(rank: RankView) -> tuple[int, bool]:
    """When it told its end, or its last record, in ns since 1970; and whether it told it."""
    words = [happening for happening in rank.happenings if happening.event in _LAST_WORDS]
    return (words[0].wall_ns, True) if words else (rank.last_wall_ns, False)


def is_troubled(rank: RankView) -> bool:
    """Whether anything but running or a proper end can be said of it."""
    verdict = rank.verdict
    return verdict.state is RankState.LOST or verdict.what not in _UNTROUBLED


def ease(rank: RankView) -> tuple[int, float, int]:
    """How well off a rank is, the worst first: what happened to it, its headroom, less the bytes it holds."""
    room = headroom(rank)
    return (
        calm(rank.verdict.what) if is_troubled(rank) else _AT_EASE,
        _ENDLESS if room is None else room,
        -rank.measured.total,
    )


def calm(what: What) -> int:
    """A place in the order of causes: what brought others down comes first."""
    causes = (
        What.OUT_OF_MEMORY, What.KILLED, What.EXCEPTION, What.EXIT_CODE, What.KILLED_OR_ENDED, What.STOPPED,
        What.SILENT, What.ORPHANED, What.UNREACHABLE, What.REBOOTED, What.LOST_PEER, What.ENDED_BY_LAUNCHER,
    )  # fmt: skip
    return causes.index(what) if what in causes else len(causes)
