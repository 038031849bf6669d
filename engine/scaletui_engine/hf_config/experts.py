"""Rules of the families with a mixture of experts, or with latent attention and one.

Each follows the modules of `models/<family>/modeling_<family>.py` of transformers 5.24. Balance biases that
are buffers there (DeepSeek-V3, GLM-4.5) are parameters here, as in the catalogue.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scaletui_engine.errors import ParseError, ValueRangeError
from scaletui_engine.fields import shown
from scaletui_engine.hf_config import windows
from scaletui_engine.hf_config.dense import decoder, windowed
from scaletui_engine.model import Mla, Moe, QkNorm

if TYPE_CHECKING:
    from scaletui_engine.hf_config.entries import Entries
    from scaletui_engine.model import Arch


def mixtral(entries: Entries) -> Arch:
    """Every layer has experts, as wide as `intermediate_size`."""
    moe = _routed(entries, "num_local_experts", "intermediate_size")
    return replace(windowed(decoder(entries), windows.every_layer(entries)), moe=moe)


def olmoe(entries: Entries) -> Arch:
    """Experts in every layer under OLMo 2's norms of queries and keys, with the usual order of the others."""
    arch = decoder(entries)
    if arch.head_dim != entries.divided("hidden_size", "num_attention_heads"):
        raise ParseError(
            f"head_dim = {arch.head_dim}: norms of another width than the queries have no rule here"
        )
    return replace(arch, qk_norm=QkNorm.FULL, moe=_routed(entries, "num_local_experts", "intermediate_size"))


def gpt_oss(entries: Entries) -> Arch:
    """Mixtral's layout with biases everywhere, sinks, and a window in every other layer."""
    moe = replace(_routed(entries, "num_local_experts", "intermediate_size"), router_bias=True)
    arch = replace(decoder(entries), mlp_bias=True, attn_sinks=True, moe=moe)
    return windowed(arch, windows.all_but_each(entries, "sliding_window_pattern"))


def qwen2_moe(entries: Entries) -> Arch:
    """Experts, and a shared one behind a gate of its own."""
    bias = entries.flag("qkv_bias")
    shared = entries.whole("shared_expert_intermediate_size")
    moe = _sparse(entries)
    if moe is not None:
        moe = replace(moe, shared=1, shared_ffn=shared, shared_gate=True)
    arch = replace(decoder(entries), qkv_bias=bias, moe=moe)
    return windowed(arch, windows.every_other_before(entries))


def qwen3_moe(entries: Entries) -> Arch:
    """Experts alone, and norms of queries and keys."""
    arch = replace(decoder(entries), qk_norm=QkNorm.PER_HEAD, moe=_sparse(entries))
    slides = entries.flag("use_sliding_window")
    return windowed(arch, windows.every_layer(entries)) if slides else arch


def glm4_moe(entries: Entries) -> Arch:
    """DeepSeek-V3's experts under grouped attention."""
    arch = replace(decoder(entries), o_bias=False, moe=_grouped(entries, router_bias=True))
    return replace(arch, qk_norm=QkNorm.PER_HEAD) if entries.flag("use_qk_norm") else arch


def llama4(entries: Entries) -> Arch:
    """Experts beside one shared expert in the last layer of each group; chunks, but for some layers."""
    layers, every = entries.whole("num_hidden_layers"), entries.whole("interleave_moe_layer_step")
    said = entries.numbers("moe_layers")
    if said and said != tuple(range(every - 1, layers, every)):
        raise ParseError(f"moe_layers = {shown(list(said))}: not the last of each {every} layers")
    routed = _routed(entries, "num_local_experts", "intermediate_size")
    moe = replace(routed, shared=1, shared_ffn=routed.ffn, every=every)
    return replace(
        decoder(entries),
        ffn=entries.whole("intermediate_size_mlp"),
        chunk_attn_window=entries.whole_or_none("attention_chunk_size"),
        nope_every=entries.whole("no_rope_layer_interval"),
        moe=moe if every <= layers else None,
    )


def deepseek_v2(entries: Entries) -> Arch:
    """Latent attention and grouped experts; the router has no bias."""
    if entries.flag("mlp_bias"):
        raise ParseError("mlp_bias = true: biases of dense layers without those of experts have no rule here")
    return _latent(entries, _grouped(entries, router_bias=False))


def deepseek_v3(entries: Entries) -> Arch:
    """DeepSeek-V2's, with a balance bias for every expert."""
    return _latent(entries, _grouped(entries, router_bias=True))


def _latent(entries: Entries, moe: Moe | None) -> Arch:
    if entries.flag("attention_bias"):
        raise ParseError("attention_bias = true: biases of the latents have no rule here")
    mla = Mla(
        q_lora_rank=entries.whole_or_none("q_lora_rank", least=0) or 0,
        kv_lora_rank=entries.whole("kv_lora_rank"),
        qk_nope_head_dim=entries.whole("qk_nope_head_dim"),
        qk_rope_head_dim=entries.whole("qk_rope_head_dim"),
        v_head_dim=entries.whole("v_head_dim"),
    )
    heads = entries.whole("num_attention_heads")
    sized = replace(
        entries,
        defaults={**entries.defaults, "head_dim": mla.qk_head_dim},
        spellings={**entries.spellings, "head_dim": ("qk_head_dim",)},
    )
    return replace(decoder(sized), kv_heads=heads, moe=moe, mla=mla)


def _routed(entries: Entries, experts: str, ffn: str) -> Moe:
    topk = entries.no_more_than("num_experts_per_tok", experts)
    return Moe(experts=entries.whole(experts), topk=topk, ffn=entries.whole(ffn))


def _sparse(entries: Entries) -> Moe | None:
    """Qwen's: the last of each `decoder_sparse_step` layers, less `mlp_only_layers`; None without any.

    Raises ParseError where the dense layers are neither between the others nor in front.
    """
    layers, every = entries.whole("num_hidden_layers"), entries.whole("decoder_sparse_step")
    if entries.whole("num_local_experts", least=0) == 0 or every > layers:
        return None
    dense = sorted({layer for layer in entries.numbers("mlp_only_layers") if layer < layers})
    moe = _routed(entries, "num_local_experts", "moe_intermediate_size")
    if not dense:
        return replace(moe, every=every)
    if every > 1 or dense != list(range(len(dense))):
        raise ParseError(
            f"mlp_only_layers = {shown(dense)}: dense layers have a rule only in front of the others"
        )
    return replace(moe, first_dense=len(dense)) if len(dense) < layers else None


def _grouped(entries: Entries, *, router_bias: bool) -> Moe | None:
    """DeepSeek's: all layers but the first few, shared experts, routing by groups."""
    if entries.whole("moe_layer_freq") != 1:
        raise ParseError("moe_layer_freq above 1 has no rule here: transformers gives every layer experts")
    first, layers = (
        entries.whole_or_none("first_k_dense_replace", least=0) or 0,
        entries.whole("num_hidden_layers"),
    )
    shared = entries.whole_or_none("n_shared_experts", least=0) or 0
    moe = _routed(entries, "num_local_experts", "moe_intermediate_size")
    groups = entries.whole_or_none("n_group") or 1
    if moe.experts % groups:
        raise ValueRangeError(
            f"{entries.spelled('num_local_experts')} {moe.experts} / n_group {groups} is not a whole number"
        )
    found = replace(moe, shared=shared, shared_ffn=moe.ffn if shared else 0, router_bias=router_bias)
    if groups > 1 and entries.whole_or_none("topk_group") is not None:
        found = replace(found, groups=groups, topk_groups=entries.no_more_than("topk_group", "n_group"))
    return replace(found, first_dense=first) if first < layers else None
