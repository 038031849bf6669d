"""Microbatches whose activations a pipeline stage holds at once, in closed form by schedule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The shape of a pipelined step."""

    schedule: str
    ranks: int
    microbatches: int
    chunks: int = 1


def in_flight(pipeline: Pipeline, rank: int) -> Fraction:
    """Microbatches of the rank's own layers that are alive at its peak; a fraction when chunks are smaller.

    Sources: Korthikanti et al. (arXiv:2205.05198, section 4.2.3) for 1F1B, Megatron schedules.py (warm-up)
    for the interleaved one, Qi et al. (arXiv:2401.10241, arXiv:2405.15362) for the zero-bubble family,
    deepseek-ai/DualPipe's README for DualPipe.
    """
    name = pipeline.schedule.lower()
    count = _FORMS.get(_ALIASES.get(name, name), _one_f_one_b)(pipeline, rank)
    return min(count, Fraction(pipeline.microbatches))


def _gpipe(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(pipeline.microbatches)


def _one_f_one_b(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(pipeline.ranks - rank)


def _interleaved(pipeline: Pipeline, rank: int) -> Fraction:
    ranks, chunks = pipeline.ranks, pipeline.chunks
    if chunks == 1:
        return _one_f_one_b(pipeline, rank)
    warmup = 2 * (ranks - rank - 1) + (chunks - 1) * ranks
    return Fraction(min(warmup + 1, pipeline.microbatches * chunks), chunks)


def _zb_h2(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(min(2 * (pipeline.ranks - rank) - 1, 2 * pipeline.ranks - 1))


def _whole(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(pipeline.ranks)


def _half(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(pipeline.ranks, 2) + 1


def _third(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(pipeline.ranks, 3) + 2


def _dualpipe(pipeline: Pipeline, rank: int) -> Fraction:
    return Fraction(pipeline.ranks + 1)


_FORMS: Final[dict[str, Callable[[Pipeline, int], Fraction]]] = {
    "naive": lambda _pipeline, _rank: Fraction(1),
    "gpipe": _gpipe,
    "1f1b": _one_f_one_b,
    "eager-1f1b": lambda p, rank: Fraction(2 * (p.ranks - rank) - 1),
    "interleaved-1f1b": _interleaved,
    "looped-bfs": _gpipe,
    "interleaved-zero-bubble": _interleaved,
    "zb-h1": _one_f_one_b,
    "zb-h2": _zb_h2,
    "zb-auto": _zb_h2,
    "zb-v": _whole,
    "v-half": _half,
    "v-min": _third,
    "dualpipe": _dualpipe,
    "dualpipev": _dualpipe,
}
_ALIASES: Final = {
    "interleaved1f1b": "interleaved-1f1b",
    "loopedbfs": "looped-bfs",
    "interleavedzerobubble": "interleaved-zero-bubble",
    "zbvzerobubble": "zb-v",
}
