"""Moments of a step whose weights are sharded: FSDP, HSDP and ZeRO-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.phases.common import (
    foreach_temporary,
    gradients,
    head_gradient,
    head_terms,
    in_chunks,
    layers,
    layers_after,
    persist,
    running_backward,
    states,
)
from scaletui_engine.memory.phases.moment import GATHERING, Moment, Term
from scaletui_engine.plan import Strategy
from scaletui_engine.runtime import Framework

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents


def gathered_moments(contents: Contents) -> tuple[Moment, ...]:
    """The candidates for the peak, in the order of a step.

    Source: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
    """
    held = (gradients(contents),) if persist(contents) else ()
    base = states(contents)
    after = (*base, gradients(contents))
    return (
        Moment("loss" if contents.head else "forward", (*base, *held, *_at_loss(contents))),
        Moment("backward", (*base, *held, layers(contents), *_at_layer(contents))),
        Moment("backward", (*after, _last_layer(contents), *_at_layer(contents))),
        Moment("end_of_backward", (*after, layers_after(contents), *_at_root(contents))),
        Moment("step", (*after, foreach_temporary(contents))),
    )


def _at_loss(contents: Contents) -> tuple[Term, ...]:
    """The root and the last layer are whole; a head inside the loss has its gradient already."""
    chunked = (head_gradient(contents),) if in_chunks(contents) else ()
    return (layers(contents), *head_terms(contents), _root(contents), *_whole_layers(contents, 0), *chunked)


def _at_layer(contents: Contents) -> tuple[Term, ...]:
    """One layer runs backward while the next is gathered and the previous one's gradient is reduced."""
    kind = contents.largest
    if kind is None:
        return (_root(contents), head_gradient(contents))
    recipe = contents.load.precision
    return (
        *running_backward(contents),
        _root(contents),
        head_gradient(contents),
        *_whole_layers(contents, contents.load.plan.runtime.prefetch),
        ("unsharded", "unsharded.gradient", kind.unit.trainable * recipe.compute),
        ("unsharded", "unsharded.reduce_input", kind.unit.trainable * recipe.reduce),
    )


def _last_layer(contents: Contents) -> Term:
    """Activations when the rank's first layer runs backward: its own and those of other microbatches."""
    kind = contents.last
    own = kind.activations.kept_bytes if kind else 0
    return ("activations", "activations.layers", layers_after(contents)[2] + own)


def _at_root(contents: Contents) -> tuple[Term, ...]:
    """The root's weights are freed before its gradients are copied into the reduce-scatter's input."""
    recipe = contents.load.precision
    elements = sum(unit.trainable for unit in contents.ends)
    return (
        ("unsharded", "unsharded.root_gradient", elements * recipe.compute),
        ("unsharded", "unsharded.reduce_input", elements * recipe.reduce),
    )


def _root(contents: Contents) -> Term:
    return ("unsharded", "unsharded.root", contents.root_numel * contents.load.precision.compute)


def _whole_layers(contents: Contents, prefetched: int) -> tuple[Term, ...]:
    """Layers that are whole beside the root, and the buffer of the next one."""
    load, kind = contents.load, contents.largest
    item = load.precision.compute
    unit = kind.unit.numel * item if kind else 0
    every = contents.layers_numel * item
    buffer = (("unsharded", GATHERING, min(unit * prefetched, every)),)
    if load.framework is Framework.DEEPSPEED:
        return (("unsharded", "unsharded.live", _live(contents) * item), *buffer)
    eager = load.plan.strategy is Strategy.FSDP1 and not load.plan.runtime.limit_all_gathers
    if eager or not load.plan.reshard_after_forward:
        return (("unsharded", "unsharded.layers", every),)
    if prefetched == 0 and load.plan.runtime.reshard_last:
        return ()
    return (("unsharded", "unsharded.layer", unit), *(buffer if prefetched else ()))


def _live(contents: Contents) -> int:
    """DeepSpeed keeps gathered parameters up to a limit, and gathers a bucket ahead."""
    runtime = contents.load.plan.runtime
    return min(runtime.zero_live + runtime.zero_prefetch, contents.layers_numel)
