"""What attention keeps: norm input, projection input, queries, keys, values, and what the kernel saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.common import entry, leave, packed
from scaletui_engine.memory.activations.saved import Saved
from scaletui_engine.memory.widths import ROW_BYTES
from scaletui_engine.runtime import Attention, CpExchange, Framework
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.memory.widths import Widths


def attention(load: Load) -> tuple[Saved, ...]:
    """Attention of one layer (Korthikanti et al., arXiv:2205.05198, section 4.1; GQA, flash kernels)."""
    arch, width = load.arch, load.widths
    heads = arch.heads * arch.head_dim
    return (
        *entry(load, "attention", ("wq", "wk", "wv")),
        Saved("attention.query", width.inner(heads), "attention"),
        *_keys_values(load, width),
        *_qk_norm(load, width),
        *core(load, heads),
        *leave(load, "attention", "attention"),
    )


def core(load: Load, features: int) -> tuple[Saved, ...]:
    """The kernel's own: output and log-sum-exp with flash, the scores without."""
    width, runtime = load.widths, load.plan.runtime
    output = Saved("attention.output", output_bytes(load, features), "attention")
    if runtime.attention is Attention.UNFUSED:
        return (output, *_scores(load))
    rows = ceil_div(load.tokens * load.arch.heads * ROW_BYTES, load.tp)
    statistics = Saved("attention.log_sum_exp", rows, "attention")
    if _copied_output(load):
        return (
            output,
            statistics,
            Saved("attention.output_copy", width.inner(features), "attention", ("wo",)),
        )
    return (output, statistics)


def output_bytes(load: Load, features: int) -> int:
    """Attention's output, in 16 bits or in what the plan packs it into."""
    bits = load.plan.runtime.attention_output_bits
    if bits is None:
        return load.widths.inner(features)
    return packed(ceil_div(load.tokens * features, load.tp), bits, load)


def score_elements(load: Load) -> int:
    """Elements of the scores of one microbatch: heads x tokens x keys."""
    return ceil_div(load.arch.heads * load.tokens * load.plan.seq, load.tp)


def _scores(load: Load) -> tuple[Saved, ...]:
    elements, item = score_elements(load), load.item
    softmax = Saved("attention.softmax", elements * item, "core_attn")
    if not load.plan.runtime.dropout:
        return (softmax,)
    mask = Saved("attention.dropout_mask", elements, "core_attn")
    return (softmax, mask, Saved("attention.dropped_scores", elements * item, "core_attn"))


def _copied_output(load: Load) -> bool:
    """The kernel keeps its output and the projection another layout or an 8-bit copy of it.

    So does Megatron-LM before Transformer Engine, and context parallelism that exchanges sequence for heads.
    """
    if load.plan.runtime.attention_output_bits is not None:
        return False
    exchange = load.plan.runtime.cp_exchange is CpExchange.ALL_TO_ALL and load.plan.axes.cp > 1
    return exchange or load.eight_bit_inputs or load.framework is Framework.MEGATRON_LEGACY


def projected_features(load: Load) -> tuple[int, int]:
    """Features of a token's queries, and of its keys and values together."""
    arch = load.arch
    if arch.mla is not None:
        return arch.heads * arch.mla.qk_head_dim, arch.heads * (arch.mla.qk_head_dim + arch.mla.v_head_dim)
    return arch.heads * arch.head_dim, 2 * _kv_heads(load) * arch.head_dim


def _keys_values(load: Load, width: Widths) -> tuple[Saved, ...]:
    features = _kv_heads(load) * load.arch.head_dim
    return (
        Saved("attention.key", width.inner(features), "attention"),
        Saved("attention.value", width.inner(features), "attention"),
    )


def _kv_heads(load: Load) -> int:
    arch = load.arch
    return arch.heads if load.plan.runtime.repeat_kv else max(arch.kv_heads, load.tp)


def _qk_norm(load: Load, width: Widths) -> tuple[Saved, ...]:
    arch = load.arch
    if arch.qk_norm is None:
        return ()
    features = (arch.heads + max(arch.kv_heads, load.tp)) * arch.head_dim
    return (Saved("attention.qk_norm_input", width.inner(features), "attention"),)
