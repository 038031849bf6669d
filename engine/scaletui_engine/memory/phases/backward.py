"""The backward pass of one layer among a rank's layers, weights sharded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.phases.common import persist
from scaletui_engine.memory.phases.moment import REDUCED, Term
from scaletui_engine.memory.phases.units import splits_root, whole_layers
from scaletui_engine.plan import Offload

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
    return tuple([turn(contents, layer) for layer in sorted(edges, reverse=True) if 0 <= layer < total])


def turn(contents: Contents, layer: int) -> Turn:
    """The turn of a layer, counted from the rank's first; dense layers come before expert layers here."""
    waiting, left, kind = 0, layer + 1, contents.layers[0][0]
    for kind, count in contents.layers:
        waiting += kind.activations.kept_bytes * min(left, count)
        left -= count
        if left <= 0:
            break
    if contents.offloaded:
        waiting = min(waiting, contents.kept)
    if contents.uneven:
        waiting = contents.kept * (layer + 1) // contents.layer_count
    return Turn(kind, contents.layer_count - 1 - layer, layer, waiting)


def layer_passes(contents: Contents, turn: Turn) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """(while the layer runs, when it is done): at first it is whole and the one before is reduced.

    Then its weights are free and its gradient is copied for the reduce-scatter. The next layer is gathered
    at both.
    """
    recipe, unit, own = contents.load.precision, turn.kind.unit, turn.kind.activations
    whole = whole_layers(contents, contents.load.plan.runtime.prefetch if turn.after else 0, turn.after + 1)
    reduced = turn.kind.states.gradients if _reduces_each(contents) else 0
    waits = contents.torch_pipeline and contents.sums_whole
    at_layer = (
        ("activations", "activations.layers", turn.waiting),
        ("activations", "activations.recomputed", own.recomputed_bytes),
        ("activations", "activations.gradients", own.backward_bytes),
        *whole,
        ("unsharded", "unsharded.gradient", unit.down * recipe.compute),
        ("unsharded", "unsharded.reduce_input", 0 if waits else _reduced_before(contents, turn)),
        ("gradients", REDUCED, reduced * turn.before),
    )
    after_layer = (
        ("activations", "activations.layers", max(turn.waiting - own.kept_bytes, 0)),
        ("activations", "activations.gradients", 2 * contents.stream),
        *_next_layers(whole, unit.numel * recipe.compute),
        ("unsharded", "unsharded.gradient", unit.trainable * recipe.compute),
        ("unsharded", "unsharded.reduce_input", 0 if waits else unit.trainable * recipe.reduce),
        ("gradients", REDUCED, reduced * (turn.before + 1)),
    )
    return at_layer, after_layer


def _next_layers(whole: tuple[Term, ...], freed: int) -> tuple[Term, ...]:
    """What is whole once this layer is freed: the others if they are kept, else the next one's buffer."""
    return tuple(
        [
            (part, name, max(size - freed, 0) if name in ("unsharded.layer", "unsharded.layers") else size)
            for part, name, size in whole
        ]
    )


def _reduced_before(contents: Contents, turn: Turn) -> int:
    """Bytes of the unit whose reduce-scatter input is still held: the layer before, the head before all."""
    reduce = contents.load.precision.reduce
    if turn.before:
        return turn.kind.unit.trainable * reduce
    head = contents.head
    return head.trainable * reduce if head is not None and splits_root(contents) else 0


def _reduces_each(contents: Contents) -> bool:
    """Whether a layer's sharded gradients come into being with its turn.

    With accumulation they exist from the start, and otherwise they may leave as soon as they exist.
    """
    plan = contents.load.plan
    stays = plan.offload is Offload.NONE and not plan.runtime.optimizer_in_backward
    return stays and not persist(contents)
