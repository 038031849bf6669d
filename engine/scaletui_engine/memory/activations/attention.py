"""What attention keeps: norm input, projection input, queries, keys, values, and what the kernel saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.saved import ROW_BYTES, Saved, Widths, widths
from scaletui_engine.model import Norm
from scaletui_engine.runtime import Attention
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load


def attention(load: Load) -> tuple[Saved, ...]:
    """Attention of one layer (Korthikanti et al., arXiv:2205.05198, section 4.1; GQA, flash kernels)."""
    arch, width = load.arch, widths(load)
    heads = arch.heads * arch.head_dim
    return (
        Saved("attention.norm_input", width.outer(arch.hidden), "input"),
        *norm_statistics(load, "attention.norm_statistics"),
        linear_input(load, "attention.qkv_input"),
        Saved("attention.query", width.inner(heads), "attention"),
        *_keys_values(load, width),
        *_qk_norm(load, width),
        *core(load, heads),
        *after(load, "attention"),
    )


def linear_input(load: Load, name: str) -> Saved:
    """The input of a column-parallel layer.

    Megatron keeps the slice and gathers it again in the backward pass; DTensor keeps what it gathered.
    """
    width, hidden = widths(load), load.arch.hidden
    held = width.outer(hidden) if load.megatron else width.whole(hidden)
    return Saved(name, held, "norm")


def norm_statistics(load: Load, name: str) -> tuple[Saved, ...]:
    """1/rms of each row, and its mean for LayerNorm, in fp32."""
    rows = 2 if load.arch.norm is Norm.LAYERNORM else 1
    return (Saved(name, widths(load).rows(rows, load.sp), "norm"),)


def core(load: Load, heads_width: int) -> tuple[Saved, ...]:
    """The kernel's own: output and log-sum-exp with flash, the scores without."""
    arch, width = load.arch, widths(load)
    output = Saved("attention.output", width.inner(heads_width), "attention")
    if load.plan.runtime.attention is Attention.FLASH:
        rows = ceil_div(load.tokens * arch.heads * ROW_BYTES, load.tp)
        return (output, Saved("attention.log_sum_exp", rows, "attention"))
    scores = ceil_div(arch.heads * load.tokens * load.plan.seq, load.tp)
    softmax = Saved("attention.softmax", scores * load.item, "core_attn")
    if not load.plan.runtime.dropout:
        return (output, softmax)
    mask = Saved("attention.dropout_mask", scores, "core_attn")
    dropped = Saved("attention.dropped_scores", scores * load.item, "core_attn")
    return (output, softmax, mask, dropped)


def after(load: Load, module: str) -> tuple[Saved, ...]:
    """The mask of the dropout between a block and the residual stream: one byte an element."""
    if not load.plan.runtime.dropout:
        return ()
    mask = ceil_div(load.tokens * load.arch.hidden, load.sp)
    return (Saved(f"{module}.output_mask", mask, module),)


def _keys_values(load: Load, width: Widths) -> tuple[Saved, ...]:
    arch = load.arch
    heads = arch.heads if load.plan.runtime.repeat_kv else max(arch.kv_heads, load.tp)
    features = heads * arch.head_dim
    return (
        Saved("attention.key", width.inner(features), "attention"),
        Saved("attention.value", width.inner(features), "attention"),
    )


def _qk_norm(load: Load, width: Widths) -> tuple[Saved, ...]:
    arch = load.arch
    if arch.qk_norm is None:
        return ()
    features = (arch.heads + max(arch.kv_heads, load.tp)) * arch.head_dim
    return (Saved("attention.qk_norm_input", width.inner(features), "attention"),)
