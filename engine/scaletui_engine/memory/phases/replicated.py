"""Moments of a step whose weights are whole on every rank: DDP, ZeRO-1, ZeRO-2 and Megatron."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.census import QUANTIZED, fused_shapes
from scaletui_engine.memory.phases.common import (
    foreach_temporary,
    gradients,
    head_terms,
    layers,
    persist,
    running_backward,
    states,
)
from scaletui_engine.memory.phases.moment import Stretch, Term
from scaletui_engine.memory.phases.pipeline import heads_held, waiting_heads
from scaletui_engine.plan import Offload, Strategy
from scaletui_engine.runtime import Framework
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents


def replicated_stretches(contents: Contents) -> tuple[Stretch, ...]:
    """The candidates for the peak, in the order of a step; the step comes last."""
    before, after = gradients_before(contents), gradients_after(contents)
    step = () if contents.load.megatron else _step(contents)
    backward = (layers(contents), *autocast_copies(contents), *running_backward(contents))
    passes = (
        ("loss" if contents.head else "forward", (*before, *_at_loss(contents))),
        ("backward", (*after, *backward)),
        ("end_of_backward", (*after, *_at_embedding(contents))),
    )
    held = (*states(contents), *buffers(contents))
    waiting = waiting_heads(contents, heads_held(contents))
    return (Stretch(held + waiting, passes), Stretch(held, (("step", (gradients(contents), *step)),)))


def _at_loss(contents: Contents) -> tuple[Term, ...]:
    """Megatron gathers the head's input again and makes its gradient while the logits are there.

    With sequence parallelism that gradient is reduced into a tensor of its own before the weights' gradient
    is computed (megatron/core/tensor_parallel/layers.py, `sub_grad_input`).
    """
    load = contents.load
    again = 0
    if load.megatron and contents.head is not None:
        whole = load.widths.whole(load.arch.hidden)
        again = whole * 2 + contents.stream if load.sp > 1 else whole
    return (
        layers(contents),
        *autocast_copies(contents),
        *head_terms(contents),
        ("activations", "activations.head_gradient", again),
    )


def gradients_before(contents: Contents, *, fresh: bool = False) -> tuple[Term, ...]:
    """Megatron's main gradients are one buffer for ever, DDP's views of buckets too; others accumulate."""
    load = contents.load
    view = load.plan.strategy is Strategy.DDP and load.plan.runtime.gradient_as_bucket_view
    there = load.megatron or view or (persist(contents) and not fresh)
    return (gradients(contents),) if there else ()


def gradients_after(contents: Contents) -> tuple[Term, ...]:
    """ZeRO-2 with offload sends each bucket to the host; otherwise the gradients as they are held."""
    plan = contents.load.plan
    away = plan.strategy is Strategy.ZERO2 and plan.offload is not Offload.NONE
    return () if away else (gradients(contents),)


def buffers(contents: Contents) -> tuple[Term, ...]:
    """What the framework allocates once and keeps."""
    load = contents.load
    strategy, runtime = load.plan.strategy, load.plan.runtime
    if load.megatron:
        return (
            ("buffers", "buffers.dummy_gradients", _dummy_gradients(contents)),
            *_eight_bit_weights(contents),
        )
    if strategy is Strategy.DDP and load.plan.axes.dp > 1 and not runtime.gradient_as_bucket_view:
        return (("buffers", "buffers.ddp_buckets", contents.states.gradients),)
    if strategy in (Strategy.ZERO1, Strategy.ZERO2):
        elements = min(runtime.zero_bucket, contents.layers_numel + contents.root_numel)
        return (("buffers", "buffers.reduce_bucket", elements * load.precision.compute),)
    return ()


def autocast_copies(contents: Contents) -> tuple[Term, ...]:
    """autocast keeps its 16-bit copies of fp32 weights until the forward pass and its graph are gone."""
    load = contents.load
    recipe = load.precision
    if load.megatron or recipe.compute >= recipe.weights or load.plan.lora is not None:
        return ()
    elements = contents.layers_numel + contents.root_numel
    return (("unsharded", "unsharded.autocast_copies", elements * recipe.compute),)


def _at_embedding(contents: Contents) -> tuple[Term, ...]:
    """Megatron's embedding makes a dense 16-bit gradient before it is added to the main one."""
    if not contents.load.megatron:
        return ()
    table = next((unit for unit in contents.ends if unit.name == "embedding"), None)
    elements = 0 if table is None else table.trainable
    return (("buffers", "buffers.embedding_gradient", elements * contents.load.item),)


def _step(contents: Contents) -> tuple[Term, ...]:
    """The optimizer's temporaries; DeepSpeed copies its gradient partition to fp32 first."""
    load = contents.load
    if load.plan.strategy is Strategy.DDP:
        return (foreach_temporary(contents),)
    copy = contents.states.master_weights if load.plan.offload is Offload.NONE else 0
    return (("buffers", "buffers.fp32_gradients", copy),)


def _eight_bit_weights(contents: Contents) -> tuple[Term, ...]:
    """Transformer Engine keeps an 8-bit copy of each matrix and its transpose from microbatch to microbatch.

    Router, embedding and output projection run in 16 bits. Weights that are held in 8 bits need no copy; with
    their transposes they take the 2 bytes of 16-bit ones (pytorch/module/base.py, `quantize_weight`).
    """
    load = contents.load
    held = load.plan.runtime.float8_weights or load.precision.weights == 1
    if held or not load.eight_bit_inputs:
        return ()
    elements = sum(
        tensor.numel * count
        for kind, count in contents.layers
        for tensor in kind.unit.tensors
        if tensor.role in QUANTIZED and len(tensor.shape) > 1
    )
    return (("buffers", "buffers.eight_bit_weights", 2 * elements),)


def _dummy_gradients(contents: Contents) -> int:
    """Megatron's gradient fusion hands autograd one 16-bit dummy for each distinct weight shape.

    Query, key and value are one weight there, and so are the two inputs of a gated MLP. Source: Transformer
    Engine, module/base.py, `get_dummy_wgrad`.
    """
    load = contents.load
    if not load.plan.runtime.gradient_fusion or load.framework is Framework.MEGATRON_LEGACY:
        return 0
    shapes = {shape for kind, _ in contents.layers for shape in fused_shapes(kind.unit)}
    elements = sum(rows * columns for rows, columns in shapes)
    if contents.head is not None:
        elements += ceil_div(load.vocab, load.tp) * load.arch.hidden
    return elements * load.item
