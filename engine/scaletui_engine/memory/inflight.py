"""Microbatches whose activations a pipeline rank holds at its peak: the simulated schedule's own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.schedule_rules import Rounds, schedule_rule

if TYPE_CHECKING:
    from collections.abc import Callable

STEADY: Final = 4
"""Microbatches a rank, or rounds, after which no schedule but GPipe's kind holds more microbatches."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The shape of a pipelined step."""

    schedule: str
    ranks: int
    microbatches: int
    chunks: int = 1


@lru_cache(maxsize=512)
def in_flight(pipeline: Pipeline) -> tuple[Fraction, ...]:
    """For every rank: microbatches of its own layers alive at its peak; fractions where it has chunks.

    In closed form for the schedules whose peak has one, else from the simulated order; the order alone
    decides, not the times. Raises ScenarioError for a shape that the schedule refuses, or too large a one.
    """
    form = _FORMS.get(pipeline.schedule) or _BLOCKS.get(pipeline.schedule)
    if form is None:
        return simulated(pipeline)
    return tuple(min(form(pipeline, rank), _all(pipeline)) for rank in range(pipeline.ranks))


def simulated(pipeline: Pipeline) -> tuple[Fraction, ...]:
    """The peaks of the simulated schedule, chunks freed by the weight gradient. Raises ScenarioError."""
    # The schedule engine brings numpy, which a plan without a pipeline does not need.
    from scaletui_engine.schedule.activations import activations_of
    from scaletui_engine.schedule.orders.request import Request
    from scaletui_engine.schedule.registry import build
    from scaletui_engine.schedule.shape import Shape
    from scaletui_engine.schedule.simulate import simulate

    ranks = pipeline.ranks
    shape = Shape(ranks, _enough(pipeline), pipeline.chunks)
    timeline = simulate(build(Request(pipeline.schedule, shape)))
    peak = activations_of(timeline).peak.tolist()
    held = (len(timeline.schedule.placement.stages_of(rank)) for rank in range(ranks))
    return tuple(
        Fraction(chunks).limit_denominator(64) / count for chunks, count in zip(peak, held, strict=True)
    )


def _enough(pipeline: Pipeline) -> int:
    """Microbatches beyond which nothing more is held: in rounds as large as the schedule's own."""
    ranks, microbatches = pipeline.ranks, pipeline.microbatches
    rounds = microbatches // ranks
    if rounds <= STEADY:
        return microbatches
    if _deals_rounds(pipeline) and microbatches % rounds == 0:
        return STEADY * (microbatches // rounds)
    return STEADY * ranks + microbatches % ranks


def _deals_rounds(pipeline: Pipeline) -> bool:
    """Whether microbatches are dealt to m // p equal rounds, as PyTorch does, not to rounds of p."""
    return schedule_rule(pipeline.schedule).rounds is Rounds.EQUAL


def _all(pipeline: Pipeline) -> Fraction:
    return Fraction(pipeline.microbatches)


def _gpipe(pipeline: Pipeline, rank: int) -> Fraction:
    return _all(pipeline)


def _one_f_one_b(pipeline: Pipeline, rank: int) -> Fraction:
    """Korthikanti et al., arXiv:2205.05198, section 4.2.3."""
    return Fraction(pipeline.ranks - rank)


def _eager(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(2 * (pipeline.ranks - rank) - 1)


def _interleaved(pipeline: Pipeline, rank: int) -> Fraction:
    """The warm-up and one more chunk: 2 (p - r - 1) + (v - 1) n + 1 chunks of 1/v each, n a round."""
    ranks, chunks, microbatches = pipeline.ranks, pipeline.chunks, pipeline.microbatches
    each = microbatches // max(1, microbatches // ranks) if _deals_rounds(pipeline) else ranks
    warmup = 2 * (ranks - rank - 1) + (chunks - 1) * each
    return Fraction(min(warmup + 1, microbatches * chunks), chunks)


_FORMS: Final[dict[str, Callable[[Pipeline, int], Fraction]]] = {
    "naive": lambda _pipeline, _rank: Fraction(1),
    "gpipe": _gpipe,
    "GPipe": _gpipe,
    "looped-bfs": _gpipe,
    "LoopedBFS": _gpipe,
    "1f1b": _one_f_one_b,
    "1F1B": _one_f_one_b,
    "pipedream": _one_f_one_b,
    "eager-1f1b": _eager,
    "interleaved-1f1b": _interleaved,
    "Interleaved1F1B": _interleaved,
}
_BLOCKS: Final[dict[str, Callable[[Pipeline, int], Fraction]]] = {
    "v-half": lambda pipeline, _rank: Fraction((pipeline.ranks + 2) // 2),
    "v-min": lambda pipeline, _rank: Fraction((pipeline.ranks + 4) // 3),
}
"""Building blocks whose peak the paper gives (arXiv:2405.15362): it is what decides their order."""
CLOSED: Final = frozenset(_FORMS)
"""Those of the schedules with a closed form that do not split the backward pass."""
