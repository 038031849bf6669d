"""What may be behind a memory that is not as predicted, and how long it will last, in sentences."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.text.language import N_, tr
from scaletui_engine.live.forecast import Confidence, trend_of
from scaletui_engine.live.suspects import Suspect, suspicions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.pen import Pen
    from scaletui_engine.live.forecast import Trend
    from scaletui_engine.live.snapshot import RankView
    from scaletui_engine.live.suspects import Suspicion

_SUSPECTS: Final = MappingProxyType(
    {
        Suspect.UNSHARDED_KEPT: N_("unsharded weights are kept after the step: {amount}"),
        Suspect.GRADIENTS_UNSHARDED: N_(
            "gradients are not sharded: {amount} too many; accumulating without sync?"
        ),
        Suspect.OPTIMIZER_MISSING: N_("the optimizer's state is not there yet: {amount} will come"),
        Suspect.FRAGMENTATION: N_("fragmentation: {amount} in pieces that cannot be handed out"),
        Suspect.LOGITS: N_("the peak is that of several copies of the logits: {amount}"),
        Suspect.OUTSIDE: N_("outside PyTorch (context, NCCL, others): {amount}"),
    }
)
_CONFIDENCE: Final = MappingProxyType(
    {
        Confidence.LOW: N_("uncertain"),
        Confidence.FAIR: N_("fairly sure"),
        Confidence.HIGH: N_("sure"),
    }
)


def suspect_lines(rank: RankView, pen: Pen) -> Iterator[str]:
    """One sentence for each suspicion; a leak is told as its forecast."""
    for suspicion in suspicions(rank):
        yield _sentence(suspicion, rank, pen)


def _sentence(suspicion: Suspicion, rank: RankView, pen: Pen) -> str:
    if suspicion.suspect is Suspect.RETRIES:
        return tr(
            "the allocator had to try again: {count} times", count=pen.numbers.integer(suspicion.amount)
        )
    if suspicion.suspect is Suspect.LEAK:
        trend = trend_of(rank)
        return "" if trend is None else forecast_text(trend, pen)
    return tr(_SUSPECTS[suspicion.suspect], amount=pen.numbers.size(suspicion.amount))


def forecast_text(trend: Trend, pen: Pen) -> str:
    """ "grows 1.0 MiB a step: out of memory in about 900 steps (6 m 10 s), sure"."""
    growth = pen.numbers.size(max(int(trend.bytes_per_step), 1))
    sure = tr(_CONFIDENCE[trend.confidence])
    if trend.steps_left is None:
        return tr("grows {growth} a step ({sure})", growth=growth, sure=sure)
    steps = pen.numbers.integer(_rounded(trend.steps_left))
    if trend.seconds_left is None:
        return tr(
            "grows {growth} a step: out of memory in about {steps} steps ({sure})",
            growth=growth, steps=steps, sure=sure,
        )  # fmt: skip
    time = pen.numbers.seconds(_rounded(int(trend.seconds_left)))
    return tr(
        "grows {growth} a step: out of memory in about {steps} steps, {time} ({sure})",
        growth=growth, steps=steps, time=time, sure=sure,
    )  # fmt: skip


def _rounded(value: int) -> int:
    """Two digits: a forecast is no measurement, and does not jump with every step."""
    scale = int("1".ljust(len(str(value)) - 1, "0"))
    return value // scale * scale
