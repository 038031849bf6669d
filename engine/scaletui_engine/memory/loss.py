"""Logits and loss: the bytes a logit costs at its peak, by kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.runtime import Framework, LossKernel
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load

_FP32: Final = 4
SPLIT: Final = (LossKernel.FUSED, LossKernel.PARALLEL, LossKernel.VOCAB_PARALLEL)
"""Kernels whose logits stay split over the vocabulary."""


def kernel_of(load: Load) -> LossKernel:
    """The loss kernel that runs: the plan's own, else the framework's habit."""
    chosen = load.plan.runtime.loss
    if chosen is not LossKernel.AUTO:
        return chosen
    if load.framework is Framework.MEGATRON_LEGACY:
        return LossKernel.VOCAB_PARALLEL
    if load.megatron:
        return LossKernel.FUSED
    return LossKernel.PARALLEL if load.tp > 1 else LossKernel.UPCAST


def loss_bytes(load: Load) -> int:
    """Bytes of logits and their relatives at the moment of the loss, on the rank that holds the head."""
    kernel, item = kernel_of(load), load.item
    logits = load.tokens * (ceil_div(load.vocab, load.tp) if kernel in SPLIT else load.vocab)
    chunks = load.plan.runtime.loss_chunks
    if kernel is LossKernel.CHUNKED:
        # At the last chunk: the logits, what every chunk's softmax keeps, and this chunk in fp32.
        return logits * (item + _FP32) + ceil_div(logits * _FP32, chunks)
    if kernel is LossKernel.CHUNKED_HEAD:
        return ceil_div(logits * (3 * _FP32 + item), chunks)
    return logits * _bytes_a_logit(kernel, item)


def waiting_bytes(load: Load) -> int:
    """What a microbatch's loss keeps from its forward to its backward pass: log-probabilities, or logits."""
    kernel, item = kernel_of(load), load.item
    if kernel is LossKernel.CHUNKED_HEAD:
        return 0
    logits = load.tokens * (ceil_div(load.vocab, load.tp) if kernel in SPLIT else load.vocab)
    narrow = (LossKernel.FUSED, LossKernel.PLAIN, LossKernel.COMPILED)
    return logits * (2 * _FP32 if kernel is LossKernel.UPCAST_KEPT else item if kernel in narrow else _FP32)


def logits_bytes(load: Load) -> int:
    """The logits of a microbatch in the compute type."""
    rows = ceil_div(load.vocab, load.tp) if kernel_of(load) in SPLIT else load.vocab
    return load.tokens * rows * load.item


def grad_bytes(load: Load) -> int:
    """The logits' gradient as the output projection's backward pass takes it."""
    kernel = kernel_of(load)
    rows = ceil_div(load.vocab, load.tp) if kernel in SPLIT else load.vocab
    chunks = load.plan.runtime.loss_chunks if kernel is LossKernel.CHUNKED_HEAD else 1
    return ceil_div(load.tokens * rows * load.item, chunks)


def loss_hole(load: Load) -> int:
    """Bytes that the freed 16-bit logits leave, a hole too small for the fp32 gradients that follow."""
    kernel = kernel_of(load)
    if kernel not in (LossKernel.UPCAST, LossKernel.UPCAST_KEPT, LossKernel.PARALLEL) or load.item == _FP32:
        return 0
    returned = load.torch_pipeline and load.plan.runtime.return_outputs
    return 0 if returned else logits_bytes(load)


def _bytes_a_logit(kernel: LossKernel, item: int) -> int:
    """fp32 log-probabilities and two fp32 gradients; the fp32 logits too where a reference keeps them.

    Split over the vocabulary the backward pass adds the probabilities to a gradient before it scales the sum
    (torch/distributed/tensor/parallel/loss.py, `_nll_loss_and_log_softmax_backward`): four at once.
    """
    return {
        LossKernel.FUSED: item,
        LossKernel.PLAIN: 3 * item,
        LossKernel.COMPILED: 2 * item,
        LossKernel.VOCAB_PARALLEL: 2 * _FP32,
        LossKernel.UPCAST_KEPT: 4 * _FP32,
        LossKernel.PARALLEL: 4 * _FP32,
    }.get(kernel, 3 * _FP32)
