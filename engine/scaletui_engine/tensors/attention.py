"""Attention with query, key and value heads: MHA, GQA and MQA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.model import QkNorm, Role, Tensor, TpRule
from scaletui_engine.tensors.latent_attention import latent_attention
from scaletui_engine.tensors.linear import Linear

if TYPE_CHECKING:
    from scaletui_engine.model import Arch

_PREFIX = "layers.{layer}.attention."


def attention(arch: Arch) -> tuple[Tensor, ...]:
    """Projections wq, wk, wv, wo of every layer, with the biases, norms and sinks that the model has."""
    if arch.mla is not None:
        return latent_attention(arch, arch.mla)
    return (*_inputs(arch), *_qk_norms(arch), *_sinks(arch), *_output(arch))


def _inputs(arch: Arch) -> tuple[Tensor, ...]:
    layers = range(arch.layers)
    width, kv_width = arch.heads * arch.head_dim, arch.kv_heads * arch.head_dim
    wq = Linear(f"{_PREFIX}wq", Role.ATTENTION, TpRule.COLUMN, layers)
    wk = Linear(f"{_PREFIX}wk", Role.ATTENTION, TpRule.KV, layers)
    wv = Linear(f"{_PREFIX}wv", Role.ATTENTION, TpRule.KV, layers)
    return (
        *wq.tensors(width, arch.hidden, arch.qkv_bias),
        *wk.tensors(kv_width, arch.hidden, arch.qkv_bias),
        *wv.tensors(kv_width, arch.hidden, arch.qkv_bias),
    )


def _qk_norms(arch: Arch) -> tuple[Tensor, ...]:
    if arch.qk_norm is None:
        return ()
    full = arch.qk_norm is QkNorm.FULL
    q, k = (arch.heads, arch.kv_heads) if full else (1, 1)
    return (_gain(arch, "q_norm", q * arch.head_dim), _gain(arch, "k_norm", k * arch.head_dim))


def _gain(arch: Arch, name: str, features: int) -> Tensor:
    return Tensor(_PREFIX + name, (features,), Role.ATTENTION, TpRule.REPLICATED, range(arch.layers))


def _sinks(arch: Arch) -> tuple[Tensor, ...]:
    if not arch.attn_sinks:
        return ()
    return (Tensor(f"{_PREFIX}sinks", (arch.heads,), Role.ATTENTION, TpRule.COLUMN, range(arch.layers)),)


def _output(arch: Arch) -> tuple[Tensor, ...]:
    wo = Linear(f"{_PREFIX}wo", Role.ATTENTION, TpRule.ROW, range(arch.layers))
    return wo.tensors(arch.hidden, arch.heads * arch.head_dim, arch.o_bias)
