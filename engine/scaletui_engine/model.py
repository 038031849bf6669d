"""A transformer as numbers, and as its list of named tensors: shape, layers, how TP and EP split it."""

from __future__ import annotations

from dataclasses import dataclass
from scaletui_engine.compat import StrEnum


class Norm(StrEnum):
    """The normalisation between blocks."""

    RMSNORM = "rmsnorm"
    LAYERNORM = "layernorm"


class Role(StrEnum):
    """What a tensor is for; one word for every formula that must tell them apart."""

    EMBEDDING = "embedding"
    POSITION = "position"
    NORM = "norm"
    ATTENTION = "attention"
    MLP = "mlp"
    ROUTER = "router"
    EXPERT = "expert"
    SHARED_EXPERT = "shared_expert"
    LM_HEAD = "lm_head"


class TpRule(StrEnum):
    """How tensor parallelism splits a tensor (Megatron-LM, arXiv:1909.08053, section 3)."""

    COLUMN = "column"
    """Split along dim 0, the output features."""
    ROW = "row"
    """Split along dim 1, the input features."""
    VOCAB = "vocab"
    """Split along dim 0 of a vocabulary table, padded to a multiple of the degree."""
    KV = "kv"
    """Split along dim 0 by key/value heads; replicated when there are fewer heads than ranks."""
    REPLICATED = "replicated"
    """Held whole by every rank of the axis."""


@dataclass(frozen=True, slots=True)
class Moe:
    """A mixture of experts in place of the MLP of some layers."""

    experts: int
    topk: int
    ffn: int
    shared: int = 0
    shared_ffn: int = 0
    every: int = 1
    first_dense: int = 0
    router_bias: bool = False


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1)."""

    q_lora_rank: int
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int


@dataclass(frozen=True, slots=True)
class Arch:
    """The numbers that define a decoder-only transformer."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    norm: Norm = Norm.RMSNORM
    norms_per_layer: int = 2
    gated: bool = True
    act: str = "silu"
    tie: bool = False
    learned_pos: int | None = None
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    lm_head_bias: bool = False
    qk_norm: str | None = None
    attn_sinks: bool = False
    sliding_window: int | None = None
    sliding_layers: int = 0
    moe: Moe | None = None
    mla: Mla | None = None


@dataclass(frozen=True, slots=True)
class Tensor:
    """One named parameter, or the same parameter of many layers and experts; never expanded one by one."""

    name: str
    """Template: "layers.{layer}.attention.wq", "layers.{layer}.experts.{expert}.w1"."""
    shape: tuple[int, ...]
    """Shape of one copy, as torch stores it: (out_features, in_features)."""
    role: Role
    tp: TpRule
    layers: range | None = None
    """The layers that have it; None for a tensor outside the layers."""
    experts: int = 1
    """Copies a layer holds, one an expert."""


@dataclass(frozen=True, slots=True)
class Model:
    """A named architecture from the catalogue or from a file."""

    id: str
    family: str
    arch: Arch
    max_seq: int | None
    source: str
    note: str | None = None
