"""Names for what may be behind a memory that is not as predicted; each rule is a shape of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.forecast import trend_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.snapshot import RankView

LARGE_SHARE: Final = 0.1
SMALL_BYTES: Final = 64 << 20
"""Less than this is not worth a name."""
LOGIT_BYTES: Final = 4
LOGIT_COPIES: Final = 3
"""Copies of the logits in fp32 that a usual loss makes: themselves, their gradient, one temporary."""
HEADS: Final = ("lm_head", "output", "head", "unembed")


class Suspect(StrEnum):
    """What the numbers look like."""

    UNSHARDED_KEPT = "unsharded weights kept"
    """Gathered weights are still there after the optimizer's step."""
    GRADIENTS_UNSHARDED = "gradients not sharded"
    """Gradients are as large as before a reduce-scatter: accumulation without synchronisation."""
    OPTIMIZER_MISSING = "optimizer state not there yet"
    """It comes into being in the first step; until then there is more room than there will be."""
    FRAGMENTATION = "fragmentation"
    """The allocator keeps memory in pieces that it cannot hand out."""
    LEAK = "leak"
    """Step-end memory grows step by step."""
    LOGITS = "logits copies"
    """The rise inside of a step is that of several copies of the logits."""
    OUTSIDE = "memory outside PyTorch"
    """Context, NCCL, other libraries or other processes hold much of the device."""
    RETRIES = "allocator retries"
    """The allocator had to flush its cache to find room: the earliest sign of an end."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One rule that fits, and the bytes it is about (retries: how many)."""

    suspect: Suspect
    amount: int


def suspicions(rank: RankView) -> tuple[Suspicion, ...]:
    """Every rule that fits a rank, in a fixed order."""
    amounts = ((suspect, rule(rank)) for suspect, rule in _RULES.items())
    return tuple(Suspicion(suspect, amount) for suspect, amount in amounts if amount)


def _unsharded_kept(rank: RankView) -> int:
    kept, weights = rank.measured.unsharded or 0, rank.measured.weights or 0
    return kept if kept > LARGE_SHARE * weights and kept > SMALL_BYTES else 0


def _gradients_unsharded(rank: RankView) -> int:
    measured, predicted = rank.measured.gradients, rank.prediction.held.gradients
    if not measured or not predicted or rank.plan is None or rank.plan.wrapper != "fsdp2":
        return 0
    return measured - predicted if measured > 1.5 * predicted else 0


def _optimizer_missing(rank: RankView) -> int:
    """What is predicted, where a count found nothing; where nothing was counted nobody knows."""
    return rank.prediction.held.optimizer or 0 if rank.measured.optimizer == 0 else 0


def _fragmentation(rank: RankView) -> int:
    if rank.allocator is None:
        return 0
    pieces, reserved = rank.allocator.inactive_split or 0, rank.allocator.reserved or 0
    return pieces if pieces > LARGE_SHARE * reserved and pieces > SMALL_BYTES else 0


def _leak(rank: RankView) -> int:
    trend = trend_of(rank)
    return 0 if trend is None else max(int(trend.bytes_per_step), 1)


def _logits(rank: RankView) -> int:
    """The rise from the end of a step to the peak, when it is at least three fp32 copies of the logits."""
    allocator, identity = rank.allocator, rank.identity
    vocabulary = _vocabulary(rank)
    if allocator is None or allocator.peak is None or allocator.allocated is None or not vocabulary:
        return 0
    one = identity.micro_batch * identity.sequence_length * vocabulary * LOGIT_BYTES
    rise = allocator.peak - allocator.allocated
    return rise if one > SMALL_BYTES and rise >= LOGIT_COPIES * one and 2 * one > LARGE_SHARE * rise else 0


def _vocabulary(rank: RankView) -> int:
    """Rows of the output layer, by its usual names."""
    parameters = rank.plan.parameters if rank.plan is not None else ()
    rows = [p.shape[0] for p in parameters if len(p.shape) == 2 and any(name in p.name for name in HEADS)]
    return max(rows, default=0)


def _outside(rank: RankView) -> int:
    allocator = rank.allocator
    if (
        allocator is None
        or allocator.reserved is None
        or rank.driver_total is None
        or rank.driver_free is None
    ):
        return 0
    outside = rank.driver_total - rank.driver_free - allocator.reserved
    return outside if outside > LARGE_SHARE * rank.driver_total else 0


def _retries(rank: RankView) -> int:
    return 0 if rank.allocator is None else rank.allocator.retries or 0


_RULES: Final[dict[Suspect, Callable[[RankView], int]]] = {
    Suspect.RETRIES: _retries,
    Suspect.LEAK: _leak,
    Suspect.UNSHARDED_KEPT: _unsharded_kept,
    Suspect.GRADIENTS_UNSHARDED: _gradients_unsharded,
    Suspect.OPTIMIZER_MISSING: _optimizer_missing,
    Suspect.FRAGMENTATION: _fragmentation,
    Suspect.LOGITS: _logits,
    Suspect.OUTSIDE: _outside,
}
