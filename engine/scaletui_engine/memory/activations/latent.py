"""What multi-head latent attention keeps (DeepSeek-V2, arXiv:2405.04434, section 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.attention import core
from scaletui_engine.memory.activations.common import entry, leave
from scaletui_engine.memory.activations.saved import Saved

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.model import Mla


def latent_attention(load: Load, mla: Mla) -> tuple[Saved, ...]:
    """Latents are cut along the sequence, the projected heads by TP.

    What the latents' norms return is a module of its own for recompute: DeepSeek-V3 computes all norms again
    (arXiv:2412.19437, section 3.2.3), Megatron's layernorm means the two of the residual stream.
    """
    return (
        *entry(load, "attention", ("wq", "wq_a", "wkv_a")),
        *_latents(load, mla),
        *_projected(load, mla),
        *core(load, load.arch.heads * mla.v_head_dim),
        *leave(load, "attention", "attention"),
    )


def _latents(load: Load, mla: Mla) -> tuple[Saved, ...]:
    width = load.widths
    query = (
        Saved("attention.query_latent", width.outer(mla.q_lora_rank), "attention"),
        Saved("attention.query_latent_normed", width.outer(mla.q_lora_rank), "latent_norm", ("wq_b",)),
    )
    latent = mla.kv_lora_rank + mla.qk_rope_head_dim
    return (
        *(query if mla.q_lora_rank else ()),
        Saved("attention.kv_latent", width.outer(latent), "attention"),
        Saved("attention.kv_latent_normed", width.outer(mla.kv_lora_rank), "latent_norm", ("wkv_b",)),
    )


def _projected(load: Load, mla: Mla) -> tuple[Saved, ...]:
    heads, width = load.arch.heads, load.widths
    return (
        Saved("attention.query", width.inner(heads * mla.qk_head_dim), "mla_up_proj"),
        Saved("attention.key", width.inner(heads * mla.qk_head_dim), "mla_up_proj"),
        Saved("attention.value", width.inner(heads * mla.v_head_dim), "mla_up_proj"),
    )
