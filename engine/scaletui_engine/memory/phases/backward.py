"""The backward pass of one layer among a rank's layers, weights sharded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.phases.common import persist
from scaletui_engine.memory.phases.moment import REDUCED, Term
from scaletui_engine.memory.phases.units import splits_root, whole_layers

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents, Kind


@dataclass(frozen=True, slots=True)
class Turn:
    """One layer's turn: which kind runs, how many ran before it and how many follow."""

    kind: Kind
    before: int
    """Layers that have run backward; their gradients are reduced, the last one's reduce still under way."""
    after: int
    """Layers that wait; the next one is being gathered."""
    waiting: int
    """Bytes that the rank's layers still hold of this microbatch, this one's included."""


def turns(contents: Contents) -> tuple[Turn, ...]:
    """The turns at which something bends: the first two and last two of the rank, the ends of each kind.

    Between them everything changes by the same amount from layer to layer.
    """
    total = contents.layer_count
    edges, start = {0, 1, total - 2, total - 1}, 0
    for _, count in contents.layers:
        edges |= {start, start + count - 1}
        start += count
    return tuple(turn(contents, layer) for layer in sorted(edges, reverse=True) if 0 <= layer < total)


def turn(contents: Contents, layer: int) -> Turn:
    """The turn of a layer, counted from the rank's first; dense layers come before expert layers here."""
    waiting, start, kind = 0, 0, contents.layers[0][0]
    for kind, count in contents.layers:
        here = min(max(layer + 1 - start, 0), count)
        waiting += kind.activations.kept_bytes * here
        start += count
        if layer < start:
            break
    total = contents.layer_count
    if contents.offloaded:
        waiting = min(waiting, contents.kept)
    if contents.uneven:
        waiting = contents.kept * (layer + 1) // total
    return Turn(kind, total - 1 - layer, layer, waiting)


def at_layer(contents: Contents, turn: Turn) -> tuple[Term, ...]:
    """While the layer runs: it is whole, the next is gathered, the one before is reduced."""
    unit, recipe = turn.kind.unit, contents.load.precision
    return (
        ("activations", "activations.layers", turn.waiting),
        ("activations", "activations.recomputed", turn.kind.activations.recomputed_bytes),
        ("activations", "activations.gradients", turn.kind.activations.backward_bytes),
        *whole_layers(contents, contents.load.plan.runtime.prefetch if turn.after else 0, turn.after + 1),
        ("unsharded", "unsharded.gradient", unit.down * recipe.compute),
        ("unsharded", "unsharded.reduce_input", _reduced_before(contents, turn) * recipe.reduce),
        _sharded_gradients(contents, turn, turn.before),
    )


def after_layer(contents: Contents, turn: Turn) -> tuple[Term, ...]:
    """When the layer is done: its weights are free, its gradient is copied for the reduce-scatter."""
    unit, recipe = turn.kind.unit, contents.load.precision
    own = turn.kind.activations.kept_bytes
    waits = contents.torch_pipeline and contents.sums_whole
    return (
        ("activations", "activations.layers", max(turn.waiting - own, 0)),
        ("activations", "activations.gradients", 2 * contents.stream),
        *_next_layers(contents, turn),
        ("unsharded", "unsharded.gradient", unit.trainable * recipe.compute),
        ("unsharded", "unsharded.reduce_input", 0 if waits else unit.trainable * recipe.reduce),
        _sharded_gradients(contents, turn, turn.before + 1),
    )


def _next_layers(contents: Contents, turn: Turn) -> tuple[Term, ...]:
    """What is whole once this layer is freed: the others if they are kept, else the next one's buffer."""
    terms = whole_layers(contents, contents.load.plan.runtime.prefetch if turn.after else 0, turn.after + 1)
    freed = turn.kind.unit.numel * contents.load.precision.compute
    return tuple(
        (part, name, max(size - freed, 0) if name in ("unsharded.layer", "unsharded.layers") else size)
        for part, name, size in terms
    )


def _reduced_before(contents: Contents, turn: Turn) -> int:
    """Elements of the unit whose reduce-scatter input is still held."""
    if contents.torch_pipeline and contents.sums_whole:
        return 0
    if turn.before:
        return turn.kind.unit.trainable
    head = contents.head
    return head.trainable if head is not None and splits_root(contents) else 0


def _sharded_gradients(contents: Contents, turn: Turn, layers: int) -> Term:
    """Reduced gradients of the layers that are done; with accumulation they exist from the start."""
    plan = contents.load.plan
    if persist(contents) or plan.offload != "none" or plan.runtime.optimizer_in_backward:
        return ("gradients", REDUCED, 0)
    return ("gradients", REDUCED, turn.kind.states.gradients * layers)
