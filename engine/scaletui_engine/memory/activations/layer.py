"""A layer's activations: all of them, what recompute leaves, and what the backward pass adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.attention import attention, projected_features, score_elements
from scaletui_engine.memory.activations.common import FP32, norm_copies, packed
from scaletui_engine.memory.activations.experts import experts, routed_rows
from scaletui_engine.memory.activations.latent import latent_attention
from scaletui_engine.memory.activations.mlp import mlp
from scaletui_engine.memory.activations.policy import kept
from scaletui_engine.memory.activations.saved import Saved, total
from scaletui_engine.plan import Recompute
from scaletui_engine.runtime import Attention, CpExchange
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.census import Unit
    from scaletui_engine.memory.load import Load


@dataclass(frozen=True, slots=True)
class LayerActivations:
    """One kind of layer, one microbatch."""

    everything: tuple[Saved, ...]
    """What the layer keeps without recompute; a recomputed layer has it for a moment in its backward pass."""
    kept: tuple[Saved, ...]
    """What stays from the forward to the backward pass under the plan's recompute policy."""
    full_bytes: int
    kept_bytes: int
    backward_bytes: int
    """Gradients of activations at the worst point of the layer's backward pass."""

    @property
    def recomputed_bytes(self) -> int:
        """What comes back into being before a recomputed layer runs backward."""
        return max(self.full_bytes - self.kept_bytes, 0)


def layer_activations(load: Load, unit: Unit, *, moe: bool) -> LayerActivations:
    """The activations of a dense or an expert layer."""
    arch = load.arch
    first = attention(load) if arch.mla is None else latent_attention(load, arch.mla)
    second = experts(load, arch.moe) if moe and arch.moe is not None else mlp(load)
    everything = in_eight_bits(_trained((*first, *second), unit), load)
    stays = kept(everything, unit, load)
    return LayerActivations(
        everything, stays, total(everything), total(stays), _backward(load, second, moe=moe)
    )


def recomputed_layers(load: Load, layers: int) -> int:
    """Of a rank's first so many layers, those that a full recompute covers.

    One of every k, or the first n (Megatron's block method).
    """
    runtime = load.plan.runtime
    if load.plan.recompute is not Recompute.FULL:
        return layers
    if runtime.recompute_layers is not None:
        return min(runtime.recompute_layers, layers)
    return layers // runtime.recompute_every


def in_eight_bits(saved: tuple[Saved, ...], load: Load) -> tuple[Saved, ...]:
    """The same with the inputs of linear layers in 8 bits, where the framework keeps what it quantized.

    Transformer Engine does (pytorch/module/linear.py, `saved_inputmat`); torchao keeps the 16-bit input
    (torchao/float8/float8_linear.py saves `input_hp`). Inputs of activations follow where the plan says so.
    """
    if not load.eight_bit_inputs and not load.plan.runtime.float8_saved:
        return saved
    return tuple(
        replace(tensor, bytes=packed(tensor.bytes // load.item, 8, load))
        if _quantized(tensor, load)
        else tensor
        for tensor in saved
    )


def _quantized(tensor: Saved, load: Load) -> bool:
    """Whether only 8-bit products need a tensor (a router runs in 16 bits), or an activation keeps so few."""
    if tensor.name.endswith(".activation_input"):
        return tensor.module in load.plan.runtime.float8_saved
    return load.eight_bit_inputs and bool(tensor.weights) and "router" not in tensor.weights


def _trained(saved: tuple[Saved, ...], unit: Unit) -> tuple[Saved, ...]:
    """Without inputs of projections whose weights are frozen and carry no adapter."""
    if unit.trainable == unit.numel:
        return saved
    alive = {part for tensor in unit.tensors if tensor.trainable for part in tensor.name.split(".")}
    return tuple(tensor for tensor in saved if not tensor.weights or alive.intersection(tensor.weights))


def _backward(load: Load, second: tuple[Saved, ...], *, moe: bool) -> int:
    """The worst of four points: the activation function, unfused attention, gathered keys, an unfused norm.

    At the activation function the gradients of both gated inputs exist, less the second projection's input,
    which is free by then, and two gradients of the stream. At the norm before the block and at attention
    what the block had saved is free.
    """
    freed = total(saved for saved in second if saved.module not in ("norm", "input"))
    points = (
        _at_activation(load, moe=moe),
        _at_norm(load) - freed,
        (_at_scores(load) if load.plan.runtime.attention is Attention.UNFUSED else 0) - total(second),
        _at_gathered_keys(load) - total(second),
    )
    return max(points)


def _at_activation(load: Load, *, moe: bool) -> int:
    width, arch = load.widths, load.arch
    stream = 2 * width.outer(arch.hidden)
    gated = 2 if arch.gated else 1
    if moe and arch.moe is not None:
        row = routed_rows(load, arch.moe) * load.item
        return stream + row * (gated * ceil_div(arch.moe.ffn, load.etp) + arch.hidden)
    return stream + width.inner(gated * arch.ffn)


def _at_norm(load: Load) -> int:
    """Two gradients of the stream and, in torch's composite norm, three fp32 tensors of its shape."""
    if not norm_copies(load):
        return 0
    per_feature = 2 * load.item + 3 * FP32
    return ceil_div(load.tokens * load.arch.hidden * per_feature, load.sp)


def _at_gathered_keys(load: Load) -> int:
    """Two gradients of the stream and of the queries, keys, values and their gradients whole.

    They are gathered again in the backward pass (Transformer Engine, attention/dot_product_attention/
    context_parallel.py, `AttnFuncWithCPAndKVAllGather`; Llama 3, arXiv:2407.21783, section 3.3.2).
    """
    cp = load.plan.axes.cp
    if cp == 1 or load.plan.runtime.cp_exchange is not CpExchange.ALL_GATHER:
        return 0
    queries, keys_values = projected_features(load)
    local = 2 * load.widths.outer(load.arch.hidden) + 2 * load.widths.inner(queries)
    return local + 2 * cp * load.widths.inner(keys_values)


def _at_scores(load: Load) -> int:
    """Gradients of the dropped and of the plain softmax."""
    return 2 * load.widths.outer(load.arch.hidden) + 2 * score_elements(load) * load.item
