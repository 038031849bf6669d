"""A step's memory on one rank, layer by layer and microbatch by microbatch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.actions import RankAction, rank_actions
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases.backward import turn
from scaletui_engine.memory.phases.moment import REDUCED, Moment
from scaletui_engine.memory.phases.moments import placeless_moments
from scaletui_engine.memory.phases.passes import backward_moments, forward_moment
from scaletui_engine.memory.phases.pipeline import WAITING, receive_buffers, waiting_heads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.memory.budget import Parts
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Term
    from scaletui_engine.scenario import Scenario

IN_FLIGHT: Final = "activations.in_flight"
MOST_LAYERS: Final = 64
"""Layers of one action that are shown; of more, every n-th and those at the edges."""


@dataclass(frozen=True, slots=True)
class Point:
    """Memory from this time to the next point's."""

    time: float
    """In units of one forward pass of a stage; a backward pass takes two."""
    phase: str
    """Message id: "forward", "loss", "head", "backward", "end_of_backward", "step"."""
    microbatch: int | None
    layer: int | None
    """Counted from the rank's first."""
    parts: Parts


@dataclass(frozen=True, slots=True)
class StepTimeline:
    """One step of one rank in the steady state: optimizer states exist."""

    rank: int
    points: tuple[Point, ...]
    microbatches: int
    shown: int
    """Microbatches that the points walk through; the middle of a long step repeats itself."""

    @property
    def peak(self) -> int:
        """Index of the highest point; the first of equals."""
        return max(range(len(self.points)), key=lambda index: self.points[index].parts.total)


def timeline(scenario: Scenario, rank: int = 0) -> StepTimeline:
    """The step of one pipeline rank. The scenario must be valid."""
    contents = contents_of(load_of(scenario.model.arch, scenario.plan))[rank]
    actions = rank_actions(contents)
    points = [point for action in actions for point in _action(contents, action)]
    points.extend(_ending(contents, max(action.end for action in actions)))
    shown = len({action.microbatch for action in actions})
    return StepTimeline(rank, tuple(points), max(scenario.plan.accumulation, 1), shown)


def _action(contents: Contents, action: RankAction) -> Iterator[Point]:
    """The points of one action: its layers in their order, and the loss between the passes."""
    added = _added(contents, action)
    moments = list(_forward(contents, action) if action.forward else _backward(contents, action))
    length = (action.end - action.start) / max(len(moments), 1)
    for place, (moment, layer) in enumerate(moments):
        parts = Moment(moment.phase, moment.terms + added).parts
        yield Point(action.start + place * length, moment.phase, action.microbatch, layer, parts)


def _forward(contents: Contents, action: RankAction) -> Iterator[tuple[Moment, int | None]]:
    for layer in _shown(action.layers):
        yield forward_moment(contents, _own(contents, action, layer), fresh=action.fresh), layer
    if contents.head is not None and action.last_stage:
        yield _at(contents, action, "loss"), None


def _backward(contents: Contents, action: RankAction) -> Iterator[tuple[Moment, int | None]]:
    if contents.head is not None and action.last_stage:
        yield from ((moment, None) for moment in (_at(contents, action, "head"),) if moment.terms)
    for layer in reversed(_shown(action.layers)):
        here = replace(turn(contents, layer), waiting=_own(contents, action, layer))
        for moment in backward_moments(contents, here, fresh=action.fresh):
            yield moment, layer


def _own(contents: Contents, action: RankAction, layer: int) -> int:
    """What this pass keeps of its stage up to this layer; a whole stage keeps its even share of the rank."""
    first, last = action.layers.start - 1, action.layers.stop - 1
    whole = _waiting(contents, last) - _waiting(contents, first)
    own = _waiting(contents, layer) - _waiting(contents, first)
    if contents.stages > 1 and whole:
        own = own * contents.kept // (contents.stages * whole)
    return own // action.slices


def _ending(contents: Contents, time: float) -> Iterator[Point]:
    """The end of the last backward pass, when nothing is in flight that another pass would be taken off."""
    *passes, step = placeless_moments(contents)
    ends = [moment for moment in passes if moment.phase == "end_of_backward"]
    last = [moment for moment in ends if any(name == IN_FLIGHT for _, name, _ in moment.terms)] or ends
    for moment in last:
        terms = tuple(term for term in moment.terms if term[1] not in (IN_FLIGHT, *WAITING))
        yield Point(time, moment.phase, None, None, Moment(moment.phase, terms).parts)
    yield Point(time + 0.5, step.phase, None, None, step.parts)


def _at(contents: Contents, action: RankAction, phase: str) -> Moment:
    """The named moment with this stage's activations alone; a fresh rank has no gradients of others."""
    found = next(
        (moment for moment in placeless_moments(contents) if moment.phase == phase), Moment(phase, ())
    )
    own = _own(contents, action, action.layers.stop - 1) if len(action.layers) else 0
    fresh = ("unsharded.accumulated", *((REDUCED,) if not contents.load.megatron else ()))
    gone = (*WAITING, *(fresh if action.fresh else ()))
    return Moment(
        phase,
        tuple(
            (part, name, own if name == "activations.layers" else size)
            for part, name, size in found.terms
            if name not in gone
        ),
    )


def _waiting(contents: Contents, layer: int) -> int:
    """What one microbatch keeps of the rank's layers up to this one."""
    return 0 if layer < 0 else turn(contents, layer).waiting


def _added(contents: Contents, action: RankAction) -> tuple[Term, ...]:
    """Stage passes of other microbatches that the rank holds while the action runs."""
    if contents.load.plan.axes.pp == 1:
        return ()
    others = contents.kept * action.others // (contents.stages * action.slices)
    in_flight = ("activations", IN_FLIGHT, others)
    return (in_flight, *waiting_heads(contents, action.heads), *receive_buffers(contents))


def _shown(layers: range) -> list[int]:
    """The layers of an action, thinned out in the middle where there are many."""
    if not len(layers):
        return []
    stride = -(-len(layers) // MOST_LAYERS)
    return sorted({*layers[:2], *layers[-2:], *layers[::stride]})
