"""One layer's forward or backward pass at a given place of the step: the timeline's moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.phases.backward import Turn, layer_passes
from scaletui_engine.memory.phases.common import running_backward, states
from scaletui_engine.memory.phases.gathered import held_gradients
from scaletui_engine.memory.phases.moment import Moment, Term
from scaletui_engine.memory.phases.replicated import (
    autocast_copies,
    buffers,
    gradients_after,
    gradients_before,
)
from scaletui_engine.memory.phases.units import head_gradient, held_root, whole_layers

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents


def forward_moment(contents: Contents, kept: int, *, fresh: bool) -> Moment:
    """A layer has run forward; `kept` bytes of this microbatch stay. Fresh: no backward pass has ended."""
    layers = ("activations", "activations.layers", kept)
    if contents.load.plan.strategy.shards_weights:
        held = () if fresh else held_gradients(contents)
        whole = whole_layers(contents, contents.load.plan.runtime.prefetch)
        return Moment(
            "forward", (*states(contents), *held, layers, held_root(contents, backward=False), *whole)
        )
    base = (*states(contents), *buffers(contents), *gradients_before(contents, fresh=fresh))
    return Moment("forward", (*base, *autocast_copies(contents), layers))


def backward_moments(contents: Contents, turn: Turn, *, fresh: bool) -> tuple[Moment, ...]:
    """A layer runs backward, and it has run."""
    if not contents.load.plan.strategy.shards_weights:
        terms = (*_replicated(contents, turn.waiting), *running_backward(contents))
        own = turn.kind.activations.kept_bytes
        return (
            Moment("backward", terms),
            Moment("backward", _replicated(contents, max(turn.waiting - own, 0))),
        )
    held = () if fresh else held_gradients(contents)
    root = (held_root(contents, backward=True), head_gradient(contents, waits=True))
    early = (*states(contents), *held, *root)
    return tuple(Moment("backward", (*early, *terms)) for terms in layer_passes(contents, turn))


def _replicated(contents: Contents, kept: int) -> tuple[Term, ...]:
    base = (*states(contents), *buffers(contents), *gradients_after(contents), *autocast_copies(contents))
    return (*base, ("activations", "activations.layers", kept))
