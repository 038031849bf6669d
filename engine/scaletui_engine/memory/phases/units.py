"""Units that are whole for a while: which, for how long, and what their gradients need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.phases.moment import GATHERING, Term
from scaletui_engine.plan import Strategy
from scaletui_engine.runtime import Framework
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents


def held_root(contents: Contents, *, backward: bool) -> Term:
    """What lies outside the layers: whole from forward to backward as one unit, or only while it runs.

    As units of their own, embedding and head are freed like a layer; the head runs backward before them.
    """
    plan, head = contents.load.plan, contents.head
    elements = contents.root_numel
    if plan.runtime.reshard_root and not backward:
        elements = 0
    elif splits_root(contents):
        done = head.numel if head is not None else 0
        kept = 0 if plan.reshard_after_forward else elements - done
        elements = kept if backward else kept + done
    return ("unsharded", "unsharded.root", elements * contents.load.precision.compute)


def root_elements(contents: Contents) -> int:
    """Elements whose gradients are reduced last."""
    split = splits_root(contents)
    return sum(unit.trainable for unit in contents.ends if not split or unit.name == "embedding")


def head_gradient(contents: Contents, *, waits: bool = False) -> Term:
    """The output projection's whole gradient; in one root unit it waits for the end of the backward pass."""
    head, recipe = contents.head, contents.load.precision
    reduced = waits and splits_root(contents)
    elements = 0 if head is None or reduced else head.trainable
    return ("unsharded", "unsharded.head_gradient", elements * recipe.compute)


def chunk_reduced(contents: Contents) -> Term:
    """A head in the loss, a unit of its own, reduces chunk by chunk: one reduce's input lives until the next.

    Source: pytorch/torchtitan, components/loss.py, ChunkedCELoss ("reduce-scatter fires per-chunk").
    """
    head = contents.head if splits_root(contents) else None
    elements = 0 if head is None else head.trainable
    return ("unsharded", "unsharded.reduce_input", elements * contents.load.precision.reduce)


def whole_layers(contents: Contents, prefetched: int, backward: int | None = None) -> tuple[Term, ...]:
    """Layers that are whole beside the root, and the buffers of the next ones.

    `backward` is None in the forward pass, and then the number of layers that have not run backward yet: what
    is never resharded after forward is freed layer by layer there, except in a torch pipeline.
    """
    load, runtime = contents.load, contents.load.plan.runtime
    item, every = load.precision.compute, contents.layers_numel
    unit = contents.largest.unit.numel if contents.largest else 0
    ahead = 0 if runtime.traced else min(unit * max(prefetched, _pending(contents, backward)), every)
    buffer = ("unsharded", GATHERING, ahead * item)
    if load.framework is Framework.DEEPSPEED:
        live = min(runtime.zero_live + runtime.zero_prefetch, every)
        return (("unsharded", "unsharded.live", live * item), buffer)
    eager = load.plan.strategy is Strategy.FSDP1 and not runtime.limit_all_gathers
    if eager or not load.plan.reshard_after_forward:
        stay = contents.sums_whole and contents.torch_pipeline
        left = every if backward is None or stay else _share(contents, backward)
        return (("unsharded", "unsharded.layers", left * item),)
    if backward is None and runtime.reshard_last:
        return ()
    layer = ("unsharded", "unsharded.layer", unit * item)
    return (layer, buffer) if ahead else (layer,)


def _pending(contents: Contents, backward: int | None) -> int:
    """Units that FSDP1 has freed while the GPU still works with them.

    The allocator hands them out again after an event only (record_stream), and the CPU runs ahead by as much
    as limit_all_gathers lets it (pytorch/pytorch#117323: two buffers also without forward_prefetch).
    """
    return int(backward is None and contents.load.plan.strategy is Strategy.FSDP1)


def _share(contents: Contents, layers: int) -> int:
    """Elements of so many of the rank's layers."""
    return ceil_div(contents.layers_numel * layers, max(contents.layer_count, 1))


def accumulated(contents: Contents) -> Term:
    """Whole gradients: FSDP2 sums them in the reduce type, FSDP1 in the compute type."""
    recipe = contents.load.precision
    flat = contents.load.plan.strategy is Strategy.FSDP1
    size = contents.trainable * (recipe.compute if flat else recipe.reduce)
    return ("unsharded", "unsharded.accumulated", size)


def splits_root(contents: Contents) -> bool:
    """Whether embedding and head are units of their own."""
    return contents.load.plan.runtime.split_root or contents.load.plan.runtime.traced
