"""Moments of a step whose weights are sharded: FSDP, HSDP and ZeRO-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.loss import grad_bytes
from scaletui_engine.memory.phases.backward import layer_passes, turns
from scaletui_engine.memory.phases.common import (
    foreach_temporary,
    gradients,
    head_entry,
    head_terms,
    in_chunks,
    layers,
    persist,
    states,
)
from scaletui_engine.memory.phases.moment import GATHERING, Stretch, Term
from scaletui_engine.memory.phases.pipeline import heads_held, waiting_heads
from scaletui_engine.memory.phases.units import (
    accumulated,
    chunk_reduced,
    head_gradient,
    held_root,
    root_elements,
    splits_root,
    whole_layers,
)

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents


def gathered_stretches(contents: Contents) -> tuple[Stretch, ...]:
    """The candidates for the peak, in the order of a step; the step comes last.

    Source: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
    """
    base, held = states(contents), held_gradients(contents)
    step = Stretch(base, (("step", (gradients(contents), foreach_temporary(contents))),))
    passes, late = _passes(contents), held if contents.sums_whole else ()
    if not contents.all_in_flight:
        return (*_placed(passes, base + held, base + late), step)
    # Gradients that are held from earlier microbatches imply that every forward pass is over, that one stage
    # pass less is in flight, and that one loss less waits.
    others = heads_held(contents)
    first = base + waiting_heads(contents, others)
    fewer = (
        ("activations", "activations.in_flight", -(contents.kept // contents.stages)),
        *waiting_heads(contents, max(others - 1, 0)),
    )
    again = _placed(passes[1:], base + held + fewer, base + late + fewer)
    return (*_placed(passes, first, base), *again, step)


def _placed(
    passes: tuple[Stretch, ...], early: tuple[Term, ...], late: tuple[Term, ...]
) -> tuple[Stretch, ...]:
    """The passes beside what is held early, and the last of them beside what is held late."""
    *first, last = passes
    return (*(Stretch(early + one.common, one.own) for one in first), Stretch(late + last.common, last.own))


def _passes(contents: Contents) -> tuple[Stretch, ...]:
    """The end of the forward pass, the head, every turn of the layers' backward pass, and its end."""
    loss = (("loss" if contents.head else "forward", _at_loss(contents)),)
    head = () if contents.head is None else (("head", _at_head(contents)),)
    root = (held_root(contents, backward=True), head_gradient(contents, waits=True))
    layers = [("backward", terms) for turn in turns(contents) for terms in layer_passes(contents, turn)]
    return (Stretch((), loss), Stretch((), head), Stretch(root, tuple(layers)), Stretch((), _ends(contents)))


def _ends(contents: Contents) -> tuple[tuple[str, tuple[Term, ...]], ...]:
    """The root's gradients are reduced, and they have been."""
    if contents.sums_whole:
        return (("end_of_backward", _at_root(contents)),)
    return (
        ("end_of_backward", (_layer_gradients(contents), *_at_root(contents))),
        ("end_of_backward", (gradients(contents), *_root_reduced(contents))),
    )


def held_gradients(contents: Contents) -> tuple[Term, ...]:
    """Gradients of earlier microbatches: reduced and sharded, or whole until the step's last one."""
    if contents.sums_whole:
        return (accumulated(contents),)
    return (gradients(contents),) if persist(contents) else ()


def _layer_gradients(contents: Contents) -> Term:
    """All but the root's: those are allocated once its whole gradients are free."""
    part, name, size = gradients(contents)
    if persist(contents) or size == 0:
        return (part, name, size)
    return (part, name, sum(kind.states.gradients * count for kind, count in contents.layers))


def _at_loss(contents: Contents) -> tuple[Term, ...]:
    """The last layer is whole, the root too unless freed; a head in the loss has its gradient already."""
    chunked = (head_gradient(contents), chunk_reduced(contents)) if in_chunks(contents) else ()
    root = held_root(contents, backward=False)
    return (layers(contents), *head_terms(contents), root, *whole_layers(contents, 0), *chunked)


def _at_head(contents: Contents) -> tuple[Term, ...]:
    """The logits' gradient exists, the output projection's is made; a freed root is gathered again.

    What a compiled graph gathers is used where it lies.
    """
    recipe = contents.load.precision
    split = splits_root(contents)
    elements = contents.head.numel if split and contents.head else contents.root_numel
    runtime = contents.load.plan.runtime
    again = (runtime.reshard_root or split) and not runtime.traced
    return (
        layers(contents),
        *head_entry(contents),
        ("loss", "loss.logits_gradient", grad_bytes(contents.load)),
        ("unsharded", "unsharded.root", elements * recipe.compute),
        ("unsharded", GATHERING, elements * recipe.compute if again else 0),
        *whole_layers(contents, 0),
    )


def _at_root(contents: Contents) -> tuple[Term, ...]:
    """The root's weights are freed before its gradients are copied into the reduce-scatter's input.

    A torch pipeline reduces unit by unit after its last backward pass.
    """
    recipe, elements = contents.load.precision, root_elements(contents)
    if contents.torch_pipeline and contents.sums_whole:
        unit = contents.largest.unit.trainable if contents.largest else 0
        return (("unsharded", "unsharded.reduce_input", max(unit, elements) * recipe.reduce),)
    return (
        ("unsharded", "unsharded.root_gradient", elements * recipe.compute),
        ("unsharded", "unsharded.reduce_input", elements * recipe.reduce),
    )


def _root_reduced(contents: Contents) -> tuple[Term, ...]:
    """The root's sharded gradients exist, the reduce-scatter's input still, and the last whole gradient.

    `foreach_reduce` clears its list of whole gradients, but its loop variable holds on to the last one.
    """
    recipe, elements = contents.load.precision, root_elements(contents)
    head = contents.head
    last = head.trainable if head is not None and not splits_root(contents) else 0
    return (
        ("unsharded", "unsharded.root_gradient", last * recipe.compute),
        ("unsharded", "unsharded.reduce_input", elements * recipe.reduce),
    )
