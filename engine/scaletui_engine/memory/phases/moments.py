"""Which moments a plan has, and the one at which it peaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import Parts
from scaletui_engine.memory.phases.gathered import gathered_moments
from scaletui_engine.memory.phases.moment import GATHERING, REDUCED, Moment
from scaletui_engine.memory.phases.pipeline import in_flight_terms
from scaletui_engine.memory.phases.replicated import replicated_moments

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Term


@dataclass(frozen=True, slots=True)
class Peaks:
    """The candidates of ranks that hold the same, before their place in the pipeline is counted in.

    What a place adds is the same at every moment of the passes and nothing at the step: so the largest moment
    of the passes stays the largest.
    """

    passes: Moment
    step: Moment
    passes_parts: Parts
    step_parts: Parts
    passes_total: int
    step_total: int
    own_passes: int
    """Most bytes on the default stream in the passes."""
    own_step: int
    own_loss: int
    """Bytes on the default stream at the first moment, the loss."""
    reduced: int
    """Most bytes of sharded gradients."""


def moments(contents: Contents) -> tuple[Moment, ...]:
    """Every candidate for the peak of one pipeline rank, in the order of a step."""
    added = in_flight_terms(contents)
    return tuple(
        moment if moment.phase == "step" else Moment(moment.phase, moment.terms + added)
        for moment in placeless_moments(contents)
    )


def placeless_moments(contents: Contents) -> tuple[Moment, ...]:
    """The same without what other microbatches in flight add; the step comes last."""
    if not contents.load.plan.strategy.shards_weights:
        return replicated_moments(contents)
    if not contents.all_in_flight:
        return gathered_moments(contents)
    # Gradients that are held from earlier microbatches imply that one stage pass less is in flight.
    fewer = ("activations", "activations.in_flight", -(contents.kept // contents.stages))
    *later, step = gathered_moments(contents)
    *early, _ = gathered_moments(contents, fresh=True)
    return (*early, *(Moment(moment.phase, (*moment.terms, fewer)) for moment in later), step)


def peak(found: tuple[Moment, ...]) -> Moment:
    """The moment with the largest sum; the first of equals."""
    return max(found, key=lambda moment: moment.total)


def peaks_of(contents: Contents) -> Peaks:
    """What has to be known of equal ranks to find the peak of each."""
    *passes, step = placeless_moments(contents)
    largest = peak(tuple(passes))
    own, reduced = zip(*(_streams(moment) for moment in (*passes, step)), strict=True)
    parts, step_parts = largest.parts, step.parts
    return Peaks(
        passes=largest,
        step=step,
        passes_parts=parts,
        step_parts=step_parts,
        passes_total=parts.total,
        step_total=step_parts.total,
        own_passes=max(own[:-1]),
        own_step=own[-1],
        own_loss=own[0],
        reduced=max(reduced),
    )


def peak_parts(peaks: Peaks, activations: int, buffers: int) -> tuple[str, Parts]:
    """(phase, parts) of a rank whose place adds so many bytes."""
    if peaks.passes_total + activations + buffers < peaks.step_total:
        return (peaks.step.phase, peaks.step_parts)
    p = peaks.passes_parts
    parts = Parts(
        p.weights, p.gradients, p.optimizer, p.master_weights, p.activations + activations, p.loss,
        p.unsharded, p.buffers + buffers,
    )  # fmt: skip
    return (peaks.passes.phase, parts)


def peak_at(peaks: Peaks, added: tuple[Term, ...]) -> Moment:
    """The same as a moment of terms."""
    passes = Moment(peaks.passes.phase, peaks.passes.terms + added)
    return passes if passes.total >= peaks.step_total else peaks.step


def _streams(moment: Moment) -> tuple[int, int]:
    """Bytes on the default stream, and sharded gradients; gather buffers belong to neither."""
    own = reduced = 0
    for _, name, size in moment.terms:
        if name == REDUCED:
            reduced += size
        elif name != GATHERING:
            own += size
    return own, reduced
