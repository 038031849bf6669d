"""A transformer as numbers, and the tensor that its parameters are listed as."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from scaletui_engine.compat import StrEnum


class Norm(StrEnum):
    """The normalisation between blocks."""

    RMSNORM = "rmsnorm"
    """A gain for every feature (arXiv:1910.07467)."""
    LAYERNORM = "layernorm"
    """A gain and a bias for every feature (arXiv:1607.06450)."""


class QkNorm(StrEnum):
    """The normalisation of queries and keys before the attention scores."""

    PER_HEAD = "per_head"
    """One gain of `head_dim` features shared by the heads (Qwen3, Gemma 3)."""
    FULL = "full"
    """One gain over all heads together (OLMo 2, arXiv:2501.00656)."""


class Role(StrEnum):
    """What a tensor is for; one word for every formula that must tell them apart."""

    EMBEDDING = "embedding"
    """The token table."""
    POSITION = "position"
    """The table of learned positions."""
    NORM = "norm"
    """Gains and biases of the norms between blocks."""
    ATTENTION = "attention"
    """Projections, biases, sinks and inner norms of attention."""
    MLP = "mlp"
    """The dense feed-forward block."""
    ROUTER = "router"
    """The gate of a mixture of experts."""
    EXPERT = "expert"
    """A routed expert; the only role that expert parallelism splits."""
    SHARED_EXPERT = "shared_expert"
    """An expert that every token visits."""
    LM_HEAD = "lm_head"
    """The output projection to the vocabulary, when it is not the token table itself."""


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
    """Routed experts of a layer."""
    topk: int
    """Routed experts a token visits."""
    ffn: int
    """Inner width of a routed expert."""
    shared: int = 0
    """Experts that every token visits."""
    shared_ffn: int = 0
    """Inner width of a shared expert."""
    shared_gate: bool = False
    """One logit that scales what the shared experts give (Qwen2-MoE)."""
    every: int = 1
    """One layer in `every` has experts, the last of each group (Llama 4's interleaving)."""
    first_dense: int = 0
    """Leading layers with an MLP instead (DeepSeek-V2, arXiv:2405.04434, section 3.1.2)."""
    router_bias: bool = False
    """A bias for every expert: gpt-oss's gate, or DeepSeek-V3's balance bias (arXiv:2412.19437, eq. 16)."""
    groups: int | None = None
    """Groups that routing is limited by (DeepSeek-V3's node-limited routing)."""
    topk_groups: int | None = None
    """Groups a token may reach."""


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1)."""

    q_lora_rank: int
    """Width of the query latent; 0 projects queries directly."""
    kv_lora_rank: int
    """Width of the key/value latent."""
    qk_nope_head_dim: int
    """Features of a head without rotary position."""
    qk_rope_head_dim: int
    """Features of a head with rotary position; its key part is shared by the heads."""
    v_head_dim: int
    """Features of a value head."""

    @property
    def qk_head_dim(self) -> int:
        """Features of a query or key head."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim


@dataclass(frozen=True, slots=True)
class Arch:
    """The numbers that define a decoder-only transformer."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    """Inner width of the dense MLP."""
    vocab: int
    norm: Norm = Norm.RMSNORM
    norms_per_layer: int = 2
    """1: one norm feeds attention and MLP (Phi-2); 2: one each; 4: before and after both (Gemma 2)."""
    gated: bool = True
    """Two input projections, one passing through the activation (SwiGLU, GeGLU)."""
    act: str = "silu"
    tie: bool = False
    """The output projection is the token table."""
    learned_pos: int | None = None
    """Rows of the table of learned positions."""
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    """Biases of the MLP, and of the experts where there are any."""
    lm_head_bias: bool = False
    qk_norm: QkNorm | None = None
    attn_sinks: bool = False
    """One learned logit for every head (gpt-oss)."""
    sliding_window: int | None = None
    """Tokens a windowed layer looks back over."""
    sliding_layers: int = 0
    """Layers with that window; 0 with a window set means every layer."""
    chunk_attn_window: int | None = None
    """Tokens of a chunk that attention stays in (Llama 4)."""
    nope_every: int | None = None
    """One layer in so many has no rotary position and no chunks (Llama 4)."""
    rope_theta: float | None = None
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

    @property
    def is_expert(self) -> bool:
        """Whether expert parallelism deals its copies out."""
        return self.role is Role.EXPERT

    @property
    def numel(self) -> int:
        """Elements of one copy."""
        return prod(self.shape)

    @property
    def copies(self) -> int:
        """Copies over layers and experts."""
        return self.experts * (1 if self.layers is None else len(self.layers))

    @property
    def total(self) -> int:
        """Elements of all copies."""
        return self.numel * self.copies


@dataclass(frozen=True, slots=True)
class Model:
    """A named architecture from the catalogue or from a file."""

    id: str
    family: str
    arch: Arch
    max_seq: int | None
    """Longest sequence it was made for, in tokens."""
    source: str
    note: str | None = None
