"""Each `model_type`: its rule, and what its configuration class takes where a file is silent.

The defaults are those of `models/<family>/configuration_<family>.py` of transformers 5.24. Layers, hidden
size, heads and vocabulary have none here: a file that leaves them out describes no model of its own. Inside a
larger model they have: the published `text_config` of Gemma 3 4B and of LLaVA hold what differs alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scaletui_engine.hf_config import dense, experts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scaletui_engine.hf_config.entries import Entries
    from scaletui_engine.model import Arch


@dataclass(frozen=True, slots=True)
class Family:
    """How files of one `model_type` are read."""

    rule: Callable[[Entries], Arch]
    defaults: Mapping[str, object]
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])


_ANY: Final[dict[str, object]] = {
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "max_position_embeddings": None,
}
_GROUPED: Final = {**_ANY, "num_key_value_heads": None, "head_dim": None, "intermediate_size": 11008}
_LLAMA: Final = {**_GROUPED, "attention_bias": False, "mlp_bias": False}
_LAYER_TYPES: Final = {"sliding_window": 4096, "layer_types": None}
_QWEN_WINDOW: Final = {**_LAYER_TYPES, "use_sliding_window": False, "max_window_layers": 28}
_MISTRAL: Final = {**_GROUPED, "intermediate_size": 14336, "num_key_value_heads": 8, "sliding_window": 4096}
_MIXTRAL: Final = {**_MISTRAL, "sliding_window": None, "num_local_experts": 8, "num_experts_per_tok": 2}
_QWEN2: Final = {**_GROUPED, **_QWEN_WINDOW, "intermediate_size": 22016, "num_key_value_heads": 32}
_QWEN3: Final = {**_QWEN2, "head_dim": 128, "attention_bias": False}
_QWEN_MOE: Final = {
    **_GROUPED, **_QWEN_WINDOW, "decoder_sparse_step": 1, "mlp_only_layers": None,
}  # fmt: skip
_QWEN2_MOE: Final = {
    **_QWEN_MOE, "intermediate_size": 5632, "num_key_value_heads": 16, "num_local_experts": 60,
    "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
    "qkv_bias": True,
}  # fmt: skip
_QWEN3_MOE: Final = {
    **_QWEN_MOE, "intermediate_size": 6144, "num_key_value_heads": 4, "num_local_experts": 128,
    "num_experts_per_tok": 8, "moe_intermediate_size": 768, "attention_bias": False,
}  # fmt: skip
_QWEN2_VL: Final = {
    **_ANY, **_QWEN_WINDOW, "intermediate_size": 29568, "num_key_value_heads": 8, "max_window_layers": 80,
}  # fmt: skip
_QWEN3_VL_MOE: Final = {
    **_QWEN3_MOE, "intermediate_size": 5632, "num_key_value_heads": 16, "num_local_experts": 60,
    "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "tie_word_embeddings": True,
    "use_sliding_window": False,
}  # fmt: skip
_GEMMA: Final = {
    **_GROUPED, "intermediate_size": 24576, "num_key_value_heads": 16, "head_dim": 256,
    "hidden_act": "gelu_pytorch_tanh", "tie_word_embeddings": True, "attention_bias": False,
}  # fmt: skip
_GEMMA2: Final = {
    **_GEMMA, **_LAYER_TYPES, "intermediate_size": 9216, "num_key_value_heads": 4,
    "sliding_window_pattern": 2,
}  # fmt: skip
_GLM: Final = {
    **_GROUPED, "intermediate_size": 13696, "num_key_value_heads": 2, "head_dim": 128, "attention_bias": True,
}  # fmt: skip
_PLAIN: Final = {**_ANY, "hidden_act": "gelu"}
_GPT2: Final = {
    **_PLAIN, "hidden_act": "gelu_new", "tie_word_embeddings": True, "max_position_embeddings": 1024,
    "intermediate_size": None, "add_cross_attention": False,
}  # fmt: skip
_FALCON: Final = {
    **_PLAIN, "tie_word_embeddings": True, "intermediate_size": None, "num_key_value_heads": None,
    "bias": False, "multi_query": True, "parallel_attn": True, "new_decoder_architecture": False,
    "num_ln_in_parallel_attn": None,
}  # fmt: skip
_GROUPED_EXPERTS: Final = {"n_group": None, "topk_group": None, "moe_layer_freq": 1}
_LATENT: Final = {
    **_ANY, **_GROUPED_EXPERTS, "attention_bias": False, "q_lora_rank": 1536, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
}  # fmt: skip
_DEEPSEEK_V2: Final = {
    **_LATENT, "mlp_bias": False, "intermediate_size": 11008, "moe_intermediate_size": 1407,
    "num_local_experts": 64, "n_shared_experts": 2, "first_k_dense_replace": 0,
}  # fmt: skip
_DEEPSEEK_V3: Final = {
    **_LATENT, "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_local_experts": 256,
    "n_shared_experts": 1, "first_k_dense_replace": 3, "num_experts_per_tok": 8,
    "n_group": 8, "topk_group": 4,
}  # fmt: skip
_GLM4_MOE: Final = {
    **_GROUPED, **_GROUPED_EXPERTS, "attention_bias": False, "intermediate_size": 10944,
    "num_key_value_heads": 8, "moe_intermediate_size": 1408, "num_experts_per_tok": 8,
    "num_local_experts": 128, "n_shared_experts": 1, "n_group": 1, "topk_group": 1,
    "first_k_dense_replace": 1, "use_qk_norm": False,
}  # fmt: skip
_GPT_OSS: Final = {
    **_GROUPED, **_LAYER_TYPES, "intermediate_size": 2880, "num_key_value_heads": 8, "head_dim": 64,
    "num_local_experts": 128, "num_experts_per_tok": 4, "attention_bias": True, "sliding_window": 128,
    "sliding_window_pattern": 2,
}  # fmt: skip
_OLMOE: Final = {
    **_GROUPED, "intermediate_size": 2048, "attention_bias": False, "num_local_experts": 64,
    "num_experts_per_tok": 8,
}  # fmt: skip
_SMOLLM3: Final = {
    **_LLAMA, "num_key_value_heads": 4, "tie_word_embeddings": True, "use_sliding_window": False,
    "sliding_window": None, "layer_types": None, "no_rope_layer_interval": 4,
}  # fmt: skip
_LLAMA4: Final = {
    **_GROUPED, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_key_value_heads": 8,
    "head_dim": 128, "num_local_experts": 16, "num_experts_per_tok": 1, "attention_bias": False,
    "interleave_moe_layer_step": 1, "moe_layers": None, "attention_chunk_size": 8192,
    "no_rope_layer_interval": 4,
}  # fmt: skip

_EXPERTS: Final = {"num_local_experts": ("num_experts", "num_local_experts")}
_N_EXPERTS: Final = {"num_local_experts": ("n_routed_experts", "num_local_experts", "num_experts")}
_HIDDEN_ACTIVATION: Final = {"hidden_act": ("hidden_activation", "hidden_act")}
_GPT2_NAMES: Final = {
    "num_hidden_layers": ("n_layer", "num_hidden_layers"), "hidden_size": ("n_embd", "hidden_size"),
    "num_attention_heads": ("n_head", "num_attention_heads"), "intermediate_size": ("n_inner",),
    "max_position_embeddings": ("n_positions", "max_position_embeddings"),
    "hidden_act": ("activation_function",),
}  # fmt: skip
_GPT_OSS_NAMES: Final = {"num_experts_per_tok": ("num_experts_per_tok", "experts_per_token")}
_FALCON_NAMES: Final = {
    "num_hidden_layers": ("num_hidden_layers", "n_layer"), "hidden_size": ("hidden_size", "n_embed"),
    "num_attention_heads": ("num_attention_heads", "n_head"), "intermediate_size": ("ffn_hidden_size",),
    "num_key_value_heads": ("num_kv_heads", "n_head_kv"), "hidden_act": ("activation",),
}  # fmt: skip

_FAMILIES: Final = {
    "llama": Family(dense.decoder, _LLAMA),
    "mistral": Family(dense.mistral, _MISTRAL),
    "ministral3": Family(dense.mistral, {**_MISTRAL, "head_dim": 128, "sliding_window": None}),
    "mixtral": Family(experts.mixtral, _MIXTRAL),
    "qwen2": Family(dense.qwen2, _QWEN2),
    "qwen3": Family(dense.qwen3, _QWEN3),
    "qwen2_vl": Family(dense.qwen2, _QWEN2_VL),
    "qwen2_vl_text": Family(dense.qwen2, _QWEN2_VL),
    "qwen2_5_vl": Family(dense.qwen2, _QWEN2_VL),
    "qwen2_5_vl_text": Family(dense.qwen2, _QWEN2_VL),
    "qwen3_vl_text": Family(dense.qwen3, {**_QWEN3, "use_sliding_window": False}),
    "qwen3_vl_moe_text": Family(experts.qwen3_moe, _QWEN3_VL_MOE, _EXPERTS),
    "qwen2_moe": Family(experts.qwen2_moe, _QWEN2_MOE, _EXPERTS),
    "qwen3_moe": Family(experts.qwen3_moe, _QWEN3_MOE, _EXPERTS),
    "gemma": Family(dense.decoder, _GEMMA),
    "gemma2": Family(dense.gemma2, _GEMMA2, _HIDDEN_ACTIVATION),
    "gemma3_text": Family(dense.gemma3, {**_GEMMA2, "sliding_window_pattern": 6}, _HIDDEN_ACTIVATION),
    "phi": Family(
        dense.phi,
        {
            **_PLAIN, "hidden_act": "gelu_new", "intermediate_size": 8192, "num_key_value_heads": None,
            "head_dim": None, "qk_layernorm": False,
        },
    ),
    "phi3": Family(dense.mistral, {**_GROUPED, "intermediate_size": 8192, "sliding_window": None}),
    "gpt2": Family(dense.gpt2, _GPT2, _GPT2_NAMES),
    "gpt_neox": Family(
        dense.plain, {**_PLAIN, "intermediate_size": 24576, "attention_bias": True},
        {"rope_theta": ("rotary_emb_base", "rope_theta")},
    ),
    "gpt_oss": Family(experts.gpt_oss, _GPT_OSS, _GPT_OSS_NAMES),
    "falcon": Family(dense.falcon, _FALCON, _FALCON_NAMES),
    "starcoder2": Family(
        dense.starcoder2,
        {
            **_PLAIN, "hidden_act": "gelu_pytorch_tanh", "intermediate_size": 12288, "num_key_value_heads": 2,
            "head_dim": None, "attention_bias": True, "sliding_window": None, "tie_word_embeddings": True,
        },
        {"attention_bias": ("use_bias",)},
    ),
    "olmo2": Family(dense.olmo2, {**_GROUPED, "attention_bias": False}),
    "olmo3": Family(
        dense.olmo3, {**_GROUPED, **_LAYER_TYPES, "attention_bias": False, "sliding_window_pattern": 4}
    ),
    "olmoe": Family(experts.olmoe, _OLMOE, _EXPERTS),
    "smollm3": Family(dense.smollm3, _SMOLLM3),
    "granite": Family(dense.decoder, _LLAMA),
    "glm": Family(dense.glm, _GLM),
    "glm4": Family(dense.glm4, _GLM),
    "glm4_moe": Family(experts.glm4_moe, _GLM4_MOE, _N_EXPERTS),
    "deepseek_v2": Family(experts.deepseek_v2, _DEEPSEEK_V2, _N_EXPERTS),
    "deepseek_v3": Family(experts.deepseek_v3, _DEEPSEEK_V3, _N_EXPERTS),
    "kimi_k2": Family(experts.deepseek_v3, _DEEPSEEK_V3, _N_EXPERTS),
    "llama4_text": Family(experts.llama4, _LLAMA4),
}  # fmt: skip

_SIZES: Final = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
_INSIDE: Final = {
    "llama": (4096, 32, 32, 32000), "mistral": (4096, 32, 32, 32000), "mixtral": (4096, 32, 32, 32000),
    "qwen2": (4096, 32, 32, 151936), "qwen3": (4096, 32, 32, 151936), "gemma": (3072, 28, 16, 256000),
    "gemma2": (2304, 26, 8, 256000), "gemma3_text": (2304, 26, 8, 262208), "phi3": (3072, 32, 32, 32064),
    "llama4_text": (5120, 48, 40, 202048),
}  # fmt: skip


def sizes_inside(model_type: str) -> Mapping[str, object]:
    """Sizes that a text model inside a larger one may leave out."""
    return dict(zip(_SIZES, _INSIDE.get(model_type, ()), strict=False))


def model_types() -> tuple[str, ...]:
    """Every `model_type` with a rule, in alphabetical order."""
    return tuple(sorted(_FAMILIES))


def family(model_type: str) -> Family | None:
    """How files of that type are read; None where there is no rule."""
    return _FAMILIES.get(model_type)
