"""A layer's activations, and what a recompute policy leaves of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.attention import attention
from scaletui_engine.memory.activations.experts import experts
from scaletui_engine.memory.activations.latent import latent_attention
from scaletui_engine.memory.activations.mlp import mlp
from scaletui_engine.memory.activations.saved import Saved, total
from scaletui_engine.plan import Recompute

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load

SAC_KEPT = ("attention.norm_input", "attention.output", "attention.log_sum_exp", "attention.query")
"""What torchtitan's per-op policy keeps besides every second matrix product: layer input and attention."""


@dataclass(frozen=True, slots=True)
class LayerActivations:
    """One kind of layer, one microbatch."""

    everything: tuple[Saved, ...]
    """What the layer keeps without recompute; a recomputed layer has it for a moment in its backward pass."""
    kept: tuple[Saved, ...]
    """What stays from the forward to the backward pass under the plan's recompute policy."""

    @property
    def full_bytes(self) -> int:
        """Bytes without recompute."""
        return total(self.everything)

    @property
    def kept_bytes(self) -> int:
        """Bytes that wait for the backward pass."""
        return total(self.kept)


def layer_activations(load: Load, *, moe: bool) -> LayerActivations:
    """The activations of a dense or an expert layer."""
    arch = load.arch
    first = attention(load) if arch.mla is None else latent_attention(load, arch.mla)
    second = experts(load, arch.moe) if moe and arch.moe is not None else mlp(load)
    everything = (*first, *second)
    return LayerActivations(everything, _kept(everything, load))


def _kept(everything: tuple[Saved, ...], load: Load) -> tuple[Saved, ...]:
    policy = load.plan.recompute
    if policy is Recompute.NONE:
        return everything
    if policy is Recompute.FULL:
        return tuple(saved for saved in everything if saved.module == "input")
    modules = load.plan.runtime.recompute_modules or ("core_attn",)
    return tuple(saved for saved in everything if saved.module not in modules)
