"""Logits and loss: the bytes a logit costs at its peak, by kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.runtime import LossKernel
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load

_FP32 = 4


def kernel_of(load: Load) -> LossKernel:
    """The loss kernel that runs: the plan's own, else the framework's habit."""
    chosen = load.plan.runtime.loss
    if chosen is not LossKernel.AUTO:
        return chosen
    if load.megatron:
        return LossKernel.FUSED
    return LossKernel.PARALLEL if load.tp > 1 else LossKernel.UPCAST


def loss_bytes(load: Load) -> int:
    """Bytes of logits and their relatives at the moment of the loss, on the rank that holds the head."""
    kernel = kernel_of(load)
    split = load.tp if kernel in (LossKernel.FUSED, LossKernel.PARALLEL) else 1
    logits = load.tokens * ceil_div(load.vocab, split)
    chunks = load.plan.runtime.loss_chunks
    item = load.item
    if kernel is LossKernel.CHUNKED:
        return logits * 2 * item + ceil_div(logits * 3 * _FP32, chunks)
    if kernel is LossKernel.CHUNKED_HEAD:
        return ceil_div(logits * (3 * _FP32 + item), chunks)
    return logits * _bytes_a_logit(kernel, item)


def _bytes_a_logit(kernel: LossKernel, item: int) -> int:
    """fp32 log-probabilities and two fp32 gradients; `pred` once more where a reference keeps it."""
    if kernel is LossKernel.FUSED:
        return item
    if kernel is LossKernel.PLAIN:
        return 3 * item
    if kernel is LossKernel.UPCAST_KEPT:
        return 4 * _FP32
    if kernel is LossKernel.PARALLEL:
        return 4 * _FP32 + item
    return 3 * _FP32
