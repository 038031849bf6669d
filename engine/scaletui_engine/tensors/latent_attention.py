"""Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1), named as its code names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.model import Role, Tensor, TpRule
from scaletui_engine.tensors.linear import Linear

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Mla

_PREFIX = "layers.{layer}.attention."


def latent_attention(arch: Arch, mla: Mla) -> tuple[Tensor, ...]:
    """Down-projections and their norms are whole on every rank; up-projections are split by heads."""
    layers = range(arch.layers)
    kv_up = arch.heads * (mla.qk_nope_head_dim + mla.v_head_dim)
    return (
        *_queries(arch, mla),
        *_linear("wkv_a", TpRule.REPLICATED, layers).tensors(
            mla.kv_lora_rank + mla.qk_rope_head_dim, arch.hidden
        ),
        _gain("kv_norm", mla.kv_lora_rank, layers),
        *_linear("wkv_b", TpRule.COLUMN, layers).tensors(kv_up, mla.kv_lora_rank),
        *_linear("wo", TpRule.ROW, layers).tensors(arch.hidden, arch.heads * mla.v_head_dim, arch.o_bias),
    )


def _queries(arch: Arch, mla: Mla) -> tuple[Tensor, ...]:
    layers, width = range(arch.layers), arch.heads * mla.qk_head_dim
    if mla.q_lora_rank == 0:
        return _linear("wq", TpRule.COLUMN, layers).tensors(width, arch.hidden)
    return (
        *_linear("wq_a", TpRule.REPLICATED, layers).tensors(mla.q_lora_rank, arch.hidden),
        _gain("q_norm", mla.q_lora_rank, layers),
        *_linear("wq_b", TpRule.COLUMN, layers).tensors(width, mla.q_lora_rank),
    )


def _linear(name: str, tp: TpRule, layers: range) -> Linear:
    return Linear(_PREFIX + name, Role.ATTENTION, tp, layers)


def _gain(name: str, features: int, layers: range) -> Tensor:
    return Tensor(_PREFIX + name, (features,), Role.ATTENTION, TpRule.REPLICATED, layers)
