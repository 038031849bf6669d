"""Running, exited or lost, and what happened: judged over a whole job, because ranks fall together."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Final

from scaletui_engine.live.evidence import Evidence, RankState, Verdict, What
from scaletui_engine.live.process import Life

if TYPE_CHECKING:
    from collections.abc import Sequence

FOREVER: Final = 1 << 63
COMMUNICATION: Final = ("RuntimeError", "DistBackendError", "DistNetworkError", "DistError", "DistStoreError")
"""What PyTorch raises in the ranks that are left when a peer has gone."""


@dataclass(frozen=True, slots=True)
class _Falls:
    """The ranks of a job that ended in any way but in order, boiled down to what a verdict asks for."""

    gone: int
    silent: int
    all_lost_a_peer: bool
    """Whether every exception is one that PyTorch raises when a peer has gone."""
    first_to_end: tuple[Evidence, ...]
    """The two that had ended earliest, so that one of them is not the rank in question."""
    first_to_fail: tuple[Evidence, ...]
    """The two that may have ended earliest."""


def verdicts(job: Sequence[Evidence]) -> tuple[Verdict, ...]:
    """The verdict on every rank of a job, in the order of the evidence."""
    failures = [rank for rank in job if rank.fell_silent or rank.failed_ns is not None]
    falls = _Falls(
        gone=sum(rank.life is Life.GONE for rank in job),
        silent=sum(rank.fell_silent for rank in failures),
        all_lost_a_peer=all(rank.fell_silent or rank.exception in COMMUNICATION for rank in failures),
        first_to_end=tuple(nsmallest(2, failures, key=_latest_fall)),
        first_to_fail=tuple(nsmallest(2, failures, key=_earliest_fall)),
    )
    return tuple(_verdict(rank, falls) for rank in job)


def _verdict(rank: Evidence, falls: _Falls) -> Verdict:
    if rank.life is Life.GONE:
        return Verdict(RankState.EXITED, *_ended(rank, falls))
    if rank.life is Life.UNKNOWN:
        return _unseen(rank)
    if rank.life is Life.STOPPED:
        return Verdict(RankState.RUNNING, What.STOPPED)
    if rank.launcher_life is Life.GONE:
        return Verdict(RankState.RUNNING, What.ORPHANED)
    return Verdict(RankState.RUNNING, What.SILENT if _silent(rank) else What.NOTHING)


def _silent(rank: Evidence) -> bool:
    return rank.now_ns - rank.last_ns > rank.patience_ns


def _unseen(rank: Evidence) -> Verdict:
    """A rank whose process cannot be looked up: its own last word, else the age of its records."""
    if rank.exited or rank.failed_ns is not None:
        return Verdict(RankState.EXITED, *_said(rank))
    if rank.same_host and not rank.same_boot:
        return Verdict(RankState.EXITED, What.REBOOTED)
    if _silent(rank):
        return Verdict(RankState.LOST, What.UNREACHABLE)
    return Verdict(RankState.RUNNING)


def _ended(rank: Evidence, falls: _Falls) -> tuple[What, str]:
    if rank.exception in COMMUNICATION and falls.silent and not rank.out_of_memory:
        return What.LOST_PEER, rank.exception
    if rank.out_of_memory or rank.exception:
        return _said(rank)
    if rank.ending.code is not None and (rank.ending.code or not rank.exited):
        return What.EXIT_CODE, str(rank.ending.code)
    if rank.exited:
        return What.FINISHED, ""
    if rank.ending.signal is not None:
        return _by_signal(rank, rank.ending.signal, falls)
    return _by_order(rank, falls), ""


def _said(rank: Evidence) -> tuple[What, str]:
    if rank.out_of_memory:
        return What.OUT_OF_MEMORY, rank.exception
    return (What.EXCEPTION, rank.exception) if rank.exception else (What.FINISHED, "")


def _by_signal(rank: Evidence, number: int, falls: _Falls) -> tuple[What, str]:
    """torchrun ends the ranks that are left with SIGTERM; a launcher that was killed ended nobody."""
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    by_launcher = number == signal.SIGTERM and rank.launcher_ending.signal != signal.SIGKILL
    if by_launcher and (rank.launcher_life is Life.GONE or falls.gone > 1):
        return What.ENDED_BY_LAUNCHER, name
    return What.KILLED, name


def _by_order(rank: Evidence, falls: _Falls) -> What:
    """Who fell first was killed, who fell after was ended; where the order is not known, both are said."""
    if rank.launcher_ending.signal == signal.SIGKILL:
        return What.KILLED
    ended = _other(falls.first_to_end, rank)
    failed = _other(falls.first_to_fail, rank)
    if ended is None or failed is None:
        return What.KILLED if rank.launcher_life is Life.ALIVE else What.KILLED_OR_ENDED
    if _latest_fall(ended) <= rank.last_ns:
        return What.ENDED_BY_LAUNCHER
    if _latest_fall(rank) <= _earliest_fall(failed):
        return What.KILLED
    if falls.silent == 1:
        return What.KILLED if falls.all_lost_a_peer else What.ENDED_BY_LAUNCHER
    return What.KILLED_OR_ENDED


def _other(ranks: tuple[Evidence, ...], rank: Evidence) -> Evidence | None:
    return next((other for other in ranks if other is not rank), None)


def _earliest_fall(rank: Evidence) -> int:
    return rank.last_ns if rank.failed_ns is None else rank.failed_ns


def _latest_fall(rank: Evidence) -> int:
    if rank.failed_ns is not None:
        return rank.failed_ns
    return FOREVER if rank.gone_ns is None else rank.gone_ns
