"""How a framework executes a plan: the switches that change bytes without changing the mathematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.compat import StrEnum


class Framework(StrEnum):
    """Whose habits decide what stays allocated."""

    AUTO = "auto"
    """By strategy: Megatron for zero1, DeepSpeed for zero2 and zero3, torch for the others."""
    TORCH = "torch"
    """PyTorch as torchtitan writes it: fused norms, grouped-query attention without copies."""
    MEGATRON = "megatron"
    """Megatron Core with Transformer Engine: fp32 main gradients, fused kernels, gradient fusion."""
    MEGATRON_LEGACY = "megatron-legacy"
    """Megatron-LM before Transformer Engine: local kernels, attention's output copied, fp32 logits."""
    DEEPSPEED = "deepspeed"
    """DeepSpeed's engine around Hugging Face models."""
    HF = "hf"
    """Hugging Face models in eager mode, norms computed in fp32."""


class Attention(StrEnum):
    """Which attention kernel runs, and so what it saves."""

    FLASH = "flash"
    """Output and the fp32 log-sum-exp of each row; SDPA's flash and efficient kernels save the same."""
    UNFUSED = "unfused"
    """The s x s scores as well."""


class CpExchange(StrEnum):
    """How context parallelism brings queries and keys together."""

    RING = "ring"
    """Keys and values travel around the group (arXiv:2310.01889)."""
    ALL_TO_ALL = "all_to_all"
    """Sequence and heads change places before and after attention (DeepSpeed-Ulysses, arXiv:2309.14509)."""
    ALL_GATHER = "all_gather"
    """Keys and values are gathered whole (Llama 3, arXiv:2407.21783, section 3.3.2)."""


class LossKernel(StrEnum):
    """How logits become a loss, by the bytes a logit costs at its peak."""

    AUTO = "auto"
    """Fused with Megatron, split over the vocabulary with TP, fp32 elsewhere."""
    UPCAST = "upcast"
    """Cross entropy on fp32 logits, the 16-bit logits freed."""
    UPCAST_KEPT = "upcast_kept"
    """The same while a reference to the fp32 logits lives through the backward pass."""
    PLAIN = "plain"
    """Cross entropy on logits of the compute type."""
    CHUNKED = "chunked"
    """Cross entropy in chunks of tokens over whole logits of the compute type."""
    CHUNKED_HEAD = "chunked_head"
    """The head runs inside the loss, chunk by chunk: whole logits never exist."""
    FUSED = "fused"
    """A kernel that turns 16-bit logits into their gradient in place."""
    PARALLEL = "parallel"
    """torch's loss parallelism: DTensor cross entropy over a vocabulary split by TP, fp32."""
    COMPILED = "compiled"
    """A compiled loss: 16-bit logits and their gradient, nothing in fp32."""
    VOCAB_PARALLEL = "vocab_parallel"
    """Megatron's unfused one: fp32 logits and their exponentials, split by TP."""


class OptimizerLoop(StrEnum):
    """How the optimizer walks over its tensors."""

    FOREACH = "foreach"
    """All tensors at once, with a temporary of their size."""
    FUSED = "fused"
    """One kernel, no temporaries."""
    SINGLE = "single"
    """One tensor after the other, a temporary of the largest."""


class RouterWeights(StrEnum):
    """Where a mixture of experts multiplies by the router's weights."""

    OUTPUT = "output"
    """On what the experts return, which is kept for the weights' gradient."""
    ACTIVATION = "activation"
    """Inside the experts, before their last product: nothing they return is kept (Megatron-LM, experts.py,
    `weighted_bias_swiglu_impl`)."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The execution switches of a plan; the defaults are what a fresh job of the framework does."""

    framework: Framework = Framework.AUTO
    attention: Attention = Attention.FLASH
    cp_exchange: CpExchange = CpExchange.RING
    loss: LossKernel = LossKernel.AUTO
    loss_chunks: int = 8
    optimizer_loop: OptimizerLoop = OptimizerLoop.FOREACH
    optimizer_in_backward: bool = False
    """Each gradient is applied and freed as soon as it exists."""
    compile: bool = False
    """torch.compile on each layer: pointwise chains are fused and cheap outputs recomputed."""
    dropout: bool = False
    fused_mlp: bool | None = None
    """Gate and product in one kernel; None takes the framework's habit."""
    fused_norm: bool | None = None
    """A norm in one kernel; unfused it keeps fp32 copies. None takes the framework's habit."""
    split_vocab: bool = True
    """TP splits the embedding and the output projection over the vocabulary."""
    repeat_kv: bool = False
    """Key and value heads copied to one a query head before attention."""
    float8: bool = False
    """Linear layers computed in 8 bits; Transformer Engine keeps inputs and copies of weights so too."""
    float8_weights: bool = False
    """Megatron's fp8_param_gather: weights live in 8 bits, beside their transposes, and need no copies."""
    float8_saved: tuple[str, ...] = ()
    """Blocks that keep their activation's input in 8 bits: mlp, moe, shared_experts (Megatron's
    activation_func_fp8_input_store; DeepSeek-V3, arXiv:2412.19437, section 3.3.3)."""
    float8_tile: int | None = None
    """Elements that share one fp32 scale of what is kept in 8 bits (DeepSeek-V3, section 3.3.2: 128)."""
    attention_output_bits: int | None = None
    """Attention's output is kept once, for its own backward pass and for the projection's, in so many bits
    (DeepSeek-V3's E5M6, section 3.3.3: 12). None: 16 bits, and an 8-bit copy for an 8-bit projection."""
    router_weights: RouterWeights = RouterWeights.OUTPUT
    recompute_modules: tuple[str, ...] = ()
    """What Megatron's selective recompute names: core_attn, mla_up_proj, mlp, moe_act, layernorm, moe (with
    all that is in it), shared_experts; and latent_norm, the norms between MLA's projections."""
    recompute_every: int = 1
    """With full recompute, one of every k layers is recomputed."""
    recompute_layers: int | None = None
    """With full recompute, how many layers of a stage (Megatron's block method); None means all."""
    activation_offload: bool = False
    """What would be kept for the backward pass is copied to host memory."""
    reshard_last: bool = False
    """The last layer is resharded after its forward pass too; torchtitan kept it whole, for it is needed at
    once, until it made the output a unit that it keeps instead (pytorch/torchtitan#1094)."""
    reshard_root: bool = False
    """What lies outside the layers is freed after the forward pass too; FSDP2 keeps it by default."""
    split_root: bool = False
    """Embedding and output projection are units of their own, gathered and freed like a layer."""
    traced: bool = False
    """FSDP inside a compiled graph (SimpleFSDP): weights are gathered where they are used, without a copy."""
    prefetch: int = 1
    """Units gathered ahead of the one that runs."""
    limit_all_gathers: bool = True
    """FSDP1: the CPU waits, so that at most two units are whole at once."""
    return_outputs: bool = False
    """A torch pipeline keeps the logits of every microbatch, for its step to return them (schedules.py)."""
    no_sync: bool = False
    """Gradients are kept whole between microbatches and reduced once at the end of the step."""
    bucket_bytes: int = 25 << 20
    """DDP's gradient bucket."""
    gradient_as_bucket_view: bool = False
    """DDP: gradients are views of the buckets instead of copies."""
    zero_bucket: int = 500_000_000
    """DeepSpeed's reduce and all-gather buckets, elements."""
    zero_live: int = 1_000_000_000
    """DeepSpeed's stage3_max_live_parameters."""
    zero_prefetch: int = 50_000_000
    """DeepSpeed's stage3_prefetch_bucket_size, elements."""
    zero_hpz: int = 1
    """DeepSpeed's zero_hpz_partition_size: ranks that share a second copy of the weights; 1 for none."""
    nvme: bool = False
    """What is offloaded goes on to the node's drives (ZeRO-Infinity, arXiv:2104.07857)."""
    gradient_fusion: bool = True
    """Megatron: weight gradients accumulate straight into fp32; keeps one 16-bit dummy per weight shape."""
    vocab_multiple: int | None = None
    """The vocabulary is padded to a multiple of this; None takes the framework's habit."""
    etp: int | None = None
    """Tensor parallelism of the experts; None follows tp while ep fits beside it."""
    capacity_factor: float = 1.0
    """Tokens an expert may take, over an even share."""
    imbalance: float = 1.0
    """Tokens of the busiest rank's experts, over an even share."""


DEFAULT_RUNTIME: Final = Runtime()


@dataclass(frozen=True, slots=True)
class Lora:
    """Low-rank adapters on a frozen base (arXiv:2106.09685); with `quantized`, QLoRA (arXiv:2305.14314)."""

    rank: int = 8
    targets: tuple[str, ...] = ("wq", "wv")
    """Last names of the adapted tensors."""
    quantized: bool = False
    """The base is held in 4-bit NF4."""
    double_quant: bool = True
    """QLoRA: the block scales are quantised as well."""
