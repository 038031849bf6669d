"""Rules of the families whose layers have an MLP: which tensors a configuration's modules hold.

Each follows the modules of `models/<family>/modeling_<family>.py` of transformers 5.24.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from scaletui_engine.errors import ParseError
from scaletui_engine.hf_config import windows
from scaletui_engine.model import Arch, Norm, QkNorm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scaletui_engine.hf_config.entries import Entries

_ACTIVATIONS: Final = {
    "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh", "gelu_new": "gelu_tanh", "gelu_fast": "gelu_tanh",
}  # fmt: skip
_ROPE_THETA: Final = 10_000.0


def decoder(entries: Entries) -> Arch:
    """The usual decoder: RMS norms, a gated MLP, biases where the switches say so. Raises ScenarioError."""
    bias = entries.flag("attention_bias")
    return Arch(
        layers=entries.whole("num_hidden_layers"),
        hidden=entries.whole("hidden_size"),
        heads=entries.whole("num_attention_heads"),
        kv_heads=kv_heads(entries),
        head_dim=head_dim(entries),
        ffn=inner_size(entries),
        vocab=entries.whole("vocab_size"),
        act=activation(entries),
        tie=entries.flag("tie_word_embeddings"),
        qkv_bias=bias,
        o_bias=bias,
        mlp_bias=entries.flag("mlp_bias"),
        rope_theta=_rope_theta(entries),
    )


def kv_heads(entries: Entries) -> int:
    """Heads of keys and values: as many as of queries where they are null or unheard of.

    Raises ValueRangeError where they do not divide those.
    """
    known = "num_key_value_heads" in entries.defaults
    if not known or entries.whole_or_none("num_key_value_heads") is None:
        return entries.whole("num_attention_heads")
    entries.divided("num_attention_heads", "num_key_value_heads")
    return entries.whole("num_key_value_heads")


def inner_size(entries: Entries) -> int:
    """Inner width of the MLP: four times the hidden size where the family has no number of its own."""
    if entries.whole_or_none("intermediate_size") is None and entries.defaults["intermediate_size"] is None:
        return 4 * entries.whole("hidden_size")
    return entries.whole("intermediate_size")


def head_dim(entries: Entries) -> int:
    """Features of a head: `head_dim` where the family reads it and it is given, else hidden / heads."""
    found = entries.whole_or_none("head_dim") if "head_dim" in entries.defaults else None
    return entries.divided("hidden_size", "num_attention_heads") if found is None else found


def activation(entries: Entries) -> str:
    """The MLP's activation in this engine's words; one that it has no word for keeps its own."""
    name = entries.text("hidden_act")
    return _ACTIVATIONS.get(name, name)


def _rope_theta(entries: Entries) -> float:
    """Its own key, or that of `rope_parameters`, the full layers' where layers differ."""
    own = entries.number("rope_theta")
    held = _table(_table(entries.values, "rope_parameters"), "full_attention")
    inner = replace(entries, values=held or _table(entries.values, "rope_parameters"), spellings={})
    return own or inner.number("rope_theta") or _ROPE_THETA


def _table(values: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = values.get(key)
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def windowed(arch: Arch, window: windows.Window) -> Arch:
    """The architecture with that window in so many of its layers."""
    return replace(arch, sliding_window=window[0], sliding_layers=window[1])


def mistral(entries: Entries) -> Arch:
    """A window in every layer (Mistral, Phi-3, whose fused matrices are those of three or two)."""
    return windowed(decoder(entries), windows.every_layer(entries))


def qwen2(entries: Entries) -> Arch:
    """Biases of queries, keys and values, whatever the file says."""
    return windowed(replace(decoder(entries), qkv_bias=True), windows.behind_full_layers(entries))


def qwen3(entries: Entries) -> Arch:
    """Norms of queries and keys, one gain for all heads."""
    arch = replace(decoder(entries), qk_norm=QkNorm.PER_HEAD)
    return windowed(arch, windows.behind_full_layers(entries))


def smollm3(entries: Entries) -> Arch:
    """One layer in so many has no rotary position; where windows are on, it is that one that has it."""
    every = entries.whole("no_rope_layer_interval")
    window = windows.listed(entries, lambda layer: (layer + 1) % every == 0)
    on = entries.flag("use_sliding_window")
    return replace(windowed(decoder(entries), window if on else windows.NO_WINDOW), nope_every=every)


def gemma2(entries: Entries) -> Arch:
    """Norms before and after attention and MLP; a window in every other layer."""
    arch = replace(decoder(entries), norms_per_layer=4)
    return windowed(arch, windows.all_but_each(entries, "sliding_window_pattern"))


def gemma3(entries: Entries) -> Arch:
    """Gemma 2's, with norms of queries and keys."""
    return replace(gemma2(entries), qk_norm=QkNorm.PER_HEAD)


def olmo2(entries: Entries) -> Arch:
    """Norms behind attention and MLP, and over all heads of queries and of keys together."""
    return replace(decoder(entries), qk_norm=QkNorm.FULL)


def olmo3(entries: Entries) -> Arch:
    """OLMo 2's, with a window in three of four layers."""
    return windowed(olmo2(entries), windows.all_but_each(entries, "sliding_window_pattern"))


def glm(entries: Entries) -> Arch:
    """`attention_bias` says nothing about the output projection."""
    return replace(decoder(entries), o_bias=False)


def glm4(entries: Entries) -> Arch:
    """GLM's, with norms before and after attention and MLP."""
    return replace(glm(entries), norms_per_layer=4)


def plain(entries: Entries) -> Arch:
    """Layer norms and an MLP of two matrices, with biases everywhere (GPT-NeoX, StarCoder 2)."""
    return replace(decoder(entries), norm=Norm.LAYERNORM, gated=False, mlp_bias=True)


def starcoder2(entries: Entries) -> Arch:
    """One switch for all biases; a window in every layer."""
    arch = replace(plain(entries), mlp_bias=entries.flag("attention_bias"))
    return windowed(arch, windows.every_layer(entries))


def phi(entries: Entries) -> Arch:
    """One norm for attention and MLP side by side; the output projection has a bias too."""
    if entries.flag("qk_layernorm"):
        raise ParseError("qk_layernorm = true: norms with biases on queries and keys have no rule here")
    if entries.flag("tie_word_embeddings"):
        raise ParseError("tie_word_embeddings = true: a tied output projection with a bias has no rule here")
    arch = replace(plain(entries), qkv_bias=True, o_bias=True)
    return replace(arch, norms_per_layer=1, lm_head_bias=True)


def gpt2(entries: Entries) -> Arch:
    """Learned positions; the MLP is four times as wide where its width is null."""
    if entries.flag("add_cross_attention"):
        raise ParseError("add_cross_attention = true: attention to an encoder has no rule here")
    arch = replace(plain(entries), qkv_bias=True, o_bias=True, rope_theta=None)
    return replace(arch, learned_pos=entries.whole("max_position_embeddings"))


def falcon(entries: Entries) -> Arch:
    """Three generations: one key head, as many as given, or one for every query head."""
    bias, newer = entries.flag("bias"), entries.flag("new_decoder_architecture")
    heads = 1 if entries.flag("multi_query") else entries.whole("num_attention_heads")
    given = kv_heads(entries) if newer else heads
    arch = replace(plain(entries), kv_heads=given, qkv_bias=bias, o_bias=bias, mlp_bias=bias)
    return replace(arch, norms_per_layer=_falcon_norms(entries, newer))


def _falcon_norms(entries: Entries, newer: bool) -> int:
    """Two where attention and MLP follow one another, or where the newer architecture does not say one."""
    said = entries.whole_or_none("num_ln_in_parallel_attn")
    if not entries.flag("parallel_attn") or said == 2:
        return 2
    return 2 if said is None and newer else 1
