"""The formula and the source behind every term and every saved tensor, by message id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Formula:
    """Language-neutral: symbols, not words.

    N parameters of the rank, n shard ranks, P_l and P_root parameters of the largest layer and outside
    the layers, T tokens of a microbatch on the rank (b s / cp), h hidden, a heads, k key/value heads, d head
    size, f MLP width, E experts, V vocabulary of the rank, t tensor parallelism, sp = t with sequence
    parallelism else 1, q bytes of the compute type, w g r m o bytes of weight, gradient, reduce, master and
    moments, m* microbatches.
    """

    text: str
    source: str


_FSDP: Final = "torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, torch 2.13"
_COLLECTIVES: Final = "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, torch 2.13"
_ZERO: Final = "ZeRO, arXiv:1910.02054, section 3.1"
_KORTHIKANTI: Final = "Korthikanti et al., arXiv:2205.05198, section 4.1"
_TE: Final = "Transformer Engine, module/base.py"
_STAGE: Final = "torch/distributed/pipelining/stage.py, torch 2.13"
_SCHEDULES: Final = "torch/distributed/pipelining/schedules.py, torch 2.13"
_NOTHING: Final = Formula("", "")

_FORMULAS: Final = {
    "weights.states": Formula("w N / n", _ZERO),
    "weights.second_copy": Formula("q N / ranks of the second partition", "ZeRO++, arXiv:2306.10209, 3.2"),
    "gradients.reduced": Formula("g N / n", _ZERO),
    "optimizer.states": Formula("o N / n", _ZERO),
    "master_weights.states": Formula("m N / n", _ZERO),
    "activations.layers": Formula("sum over layers of what each keeps", _KORTHIKANTI),
    "activations.in_flight": Formula(
        "(microbatches in flight - 1) x activations.layers", "the schedule's own peak"
    ),
    "activations.recomputed": Formula("everything a layer saves - what it keeps", _KORTHIKANTI),
    "activations.gradients": Formula(
        "2 q T h / sp + 2 q T f / t", "order of the backward pass of a gated MLP"
    ),
    "activations.head": Formula("q T h / sp + q T h", "final norm's input, output projection's input"),
    "activations.head_gradient": Formula(
        "q T h; with SP twice and q T h / sp", "Megatron-LM, tensor_parallel/layers.py"
    ),
    "activations.waiting_heads": Formula("(m* - 1) x activations.head", _SCHEDULES),
    "loss.waiting": Formula("4 T V x (m* - 1), or q T V", _SCHEDULES),
    "activations.stage_outputs": Formula("q T h / sp x in flight", _STAGE),
    "loss.fused": Formula("q T V", "Transformer Engine, cross_entropy.py"),
    "loss.compiled": Formula("2 q T V", "logits and their gradient"),
    "loss.plain": Formula("3 q T V", "torch: log-probabilities and two gradients"),
    "loss.upcast": Formula("12 T V", "torch: fp32 log-probabilities and two fp32 gradients"),
    "loss.upcast_kept": Formula("16 T V", "the same and the fp32 logits"),
    "loss.chunked": Formula("(q + 4) T V + 4 T V / chunks", "logits, log-probabilities, one chunk in fp32"),
    "loss.chunked_head": Formula(
        "(12 + q) T V / chunks", "one chunk of logits and what its loss makes of it"
    ),
    "loss.parallel": Formula("16 T V", "torch loss_parallel, DTensor cross entropy"),
    "loss.vocab_parallel": Formula("8 T V", "Megatron-LM, tensor_parallel/cross_entropy.py"),
    "loss.logits_gradient": Formula("q T V", "the output projection's backward pass"),
    "buffers.eight_bit_weights": Formula("2 N of the layers' matrices", _TE),
    "unsharded.root": Formula("q P_root", _FSDP),
    "unsharded.layer": Formula("q P_l", _FSDP),
    "unsharded.layers": Formula("q x layers not yet freed", _FSDP),
    "unsharded.gathering": Formula("q P_l x prefetched", _COLLECTIVES),
    "unsharded.gradient": Formula("q P_l, or of its w2", _FSDP),
    "unsharded.head_gradient": Formula("q V h", _FSDP),
    "unsharded.root_gradient": Formula("q P_root", _FSDP),
    "unsharded.reduce_input": Formula("r P of the unit that is reduced", _COLLECTIVES),
    "unsharded.accumulated": Formula("r N", _STAGE),
    "unsharded.live": Formula(
        "q x (stage3_max_live_parameters + prefetch bucket)", "DeepSpeed, zero/config.py"
    ),
    "unsharded.autocast_copies": Formula("q N", "torch autocast's cache of cast weights"),
    "buffers.ddp_buckets": Formula("g N", "torch DistributedDataParallel, gradient_as_bucket_view=False"),
    "buffers.reduce_bucket": Formula("q x reduce_bucket_size", "DeepSpeed, zero/config.py"),
    "buffers.dummy_gradients": Formula("q x one of each distinct weight shape", f"{_TE}, get_dummy_wgrad"),
    "buffers.embedding_gradient": Formula("q V h", "Megatron-LM, tensor_parallel/layers.py"),
    "buffers.optimizer_temporary": Formula("o N / (2 n)", "torch/optim/adamw.py, _multi_tensor_adamw"),
    "buffers.fp32_gradients": Formula("4 N / n", "DeepSpeed, zero/stage_1_and_2.py"),
    "buffers.pipeline_receive": Formula("q T h / sp x (m* - in flight, and m* back)", _STAGE),
    "attention.norm_input": Formula("q T h / sp", _KORTHIKANTI),
    "attention.input": Formula("q T h / sp", _KORTHIKANTI),
    "attention.query": Formula("q T a d / t", _KORTHIKANTI),
    "attention.key": Formula("q T k d / t", _KORTHIKANTI),
    "attention.value": Formula("q T k d / t", _KORTHIKANTI),
    "attention.output": Formula("q T a d / t", _KORTHIKANTI),
    "attention.log_sum_exp": Formula("4 T a / t", "FlashAttention, arXiv:2205.14135, algorithm 1"),
    "attention.softmax": Formula("q a T s / t", _KORTHIKANTI),
    "mlp.norm_input": Formula("q T h / sp", _KORTHIKANTI),
    "mlp.input": Formula("q T h / sp", _KORTHIKANTI),
    "mlp.activation_input": Formula("2 q T f / t", "SwiGLU, arXiv:2002.05202"),
    "mlp.down_input": Formula("q T f / t", _KORTHIKANTI),
    "mlp.gate_output": Formula("q T f / t", "SwiGLU, arXiv:2002.05202, in separate kernels"),
    "moe.router_scores": Formula("4 T E / sp", "Megatron-LM, transformer/moe/router.py"),
    "moe.permuted_input": Formula("q T topk h", "Megatron-LM, transformer/moe/token_dispatcher.py"),
    "moe.activation_input": Formula("2 q T topk f", "Megatron-LM, transformer/moe/experts.py"),
    "moe.down_input": Formula("q T topk f", "Megatron-LM, transformer/moe/experts.py"),
    "moe.router_weights": Formula("4 T topk", "Megatron-LM, transformer/moe/experts.py"),
    "moe.expert_output": Formula("q T topk h", "Megatron-LM, transformer/moe/token_dispatcher.py"),
}


def formula_of(name: str) -> Formula:
    """The formula of a message id; empty where it has none of its own."""
    return _FORMULAS.get(name, _NOTHING)
