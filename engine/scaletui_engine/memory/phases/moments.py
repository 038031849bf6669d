"""Which moments a plan has, and the one at which it peaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import Parts
from scaletui_engine.memory.phases.gathered import gathered_stretches
from scaletui_engine.memory.phases.moment import Moment, pools
from scaletui_engine.memory.phases.pipeline import in_flight_terms
from scaletui_engine.memory.phases.replicated import replicated_stretches

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Stretch, Term


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
    reduced_loss: int
    """Bytes of sharded gradients at the loss: those of earlier microbatches."""
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
    return tuple(moment for stretch in _stretches(contents) for moment in stretch.moments)


def _stretches(contents: Contents) -> tuple[Stretch, ...]:
    if contents.load.plan.strategy.shards_weights:
        return gathered_stretches(contents)
    return replicated_stretches(contents)


def peak(found: tuple[Moment, ...]) -> Moment:
    """The moment with the largest sum; the first of equals."""
    return max(found, key=lambda moment: moment.total)


def peaks_of(contents: Contents) -> Peaks:
    """What has to be known of equal ranks to find the peak of each; of equal moments the first counts."""
    *passes, last = _stretches(contents)
    largest: tuple[tuple[Term, ...], str, tuple[Term, ...]] = ((), "", ())
    most, (step,) = -1, last.moments
    owns, sharded = list[int](), list[int]()
    for stretch in passes:
        common, gathered, held = pools(stretch.common)
        for phase, terms in stretch.own:
            own, gathering, reduced = pools(terms)
            owns.append(common + own)
            sharded.append(held + reduced)
            total = common + own + gathered + gathering + held + reduced
            if total > most:
                largest, most = (stretch.common, phase, terms), total
    own_step, _, reduced_step = pools(step.terms)
    shared, phase, terms = largest
    peak_moment = Moment(phase, shared + terms)
    return Peaks(
        passes=peak_moment,
        step=step,
        passes_parts=peak_moment.parts,
        step_parts=step.parts,
        passes_total=most,
        step_total=step.total,
        own_passes=max(owns),
        own_step=own_step,
        own_loss=owns[0],
        reduced_loss=sharded[0],
        reduced=max(*sharded, reduced_step),
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
