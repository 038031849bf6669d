"""Terms that several moments share."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.common import norm_copies
from scaletui_engine.memory.phases.moment import REDUCED, Term
from scaletui_engine.plan import Offload
from scaletui_engine.runtime import Framework, LossKernel, OptimizerLoop
from scaletui_engine.sharding.zero import Zero3Param, persists
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents


def states(contents: Contents) -> tuple[Term, ...]:
    """Weights, optimizer and master weights: there from the first step to the last, unless offloaded."""
    held, offload = contents.states, contents.load.plan.offload
    weights = 0 if offload is Offload.PARAMS else held.weights
    stays = offload is Offload.NONE
    return (
        ("weights", "weights.states", weights),
        *_second_copy(contents),
        ("optimizer", "optimizer.states", held.optimizer if stays else 0),
        ("master_weights", "master_weights.states", held.master_weights if stays else 0),
    )


def _second_copy(contents: Contents) -> tuple[Term, ...]:
    """ZeRO++'s second partition, which backward passes gather within the node (arXiv:2306.10209, 3.2).

    Small parameters have none in the passes: they stay whole (`persists`).
    """
    plan = contents.load.plan
    ranks, every = plan.runtime.zero_hpz, plan.axes.dp * plan.axes.cp
    if ranks == 1:
        return ()
    units = (*((kind.unit, count) for kind, count in contents.layers), *((unit, 1) for unit in contents.ends))
    elements = sum(
        Zero3Param(prod(tensor.shape), ranks, max(every // ranks, 1)).allocated * tensor.copies * count
        for unit, count in units
        for tensor in unit.tensors
        if not persists(prod(tensor.shape))
    )
    return (("weights", "weights.second_copy", elements * contents.load.precision.compute),)


def gradients(contents: Contents) -> Term:
    """The rank's gradients, all of them.

    DeepSpeed keeps their shards where an offloaded optimizer is (zero/stage3.py,
    `grad_partitions_flat_buffer` on `self.device`; stage_1_and_2.py, `accumulated_grads_in_cpu`).
    """
    plan = contents.load.plan
    deepspeed = contents.load.framework is Framework.DEEPSPEED and plan.strategy.shards_gradients
    hosted = plan.offload is Offload.PARAMS or (deepspeed and plan.offload is Offload.OPTIMIZER)
    away = hosted or plan.runtime.optimizer_in_backward
    return ("gradients", REDUCED, 0 if away else contents.states.gradients)


def head_terms(contents: Contents) -> tuple[Term, ...]:
    """The final norm's input, the output projection's input, the logits and what the loss makes of them."""
    if contents.head is None:
        return ()
    return (*head_entry(contents), ("loss", f"loss.{contents.loss_kernel}", contents.loss_bytes))


def head_entry(contents: Contents) -> tuple[Term, ...]:
    """What the final norm and the output projection keep."""
    load = contents.load
    entry = contents.stream if load.megatron else load.widths.whole(load.arch.hidden)
    return (("activations", "activations.head", contents.stream + norm_copies(load) + entry),)


def layers(contents: Contents) -> Term:
    """Activations of the microbatch that runs."""
    return ("activations", "activations.layers", contents.kept)


def running_backward(contents: Contents) -> tuple[Term, ...]:
    """What a layer's own backward pass adds: recomputed activations, gradients of activations."""
    kind = contents.last
    if kind is None:
        return ()
    return (
        ("activations", "activations.recomputed", kind.activations.recomputed_bytes),
        ("activations", "activations.gradients", kind.activations.backward_bytes),
    )


def foreach_temporary(contents: Contents) -> Term:
    """torch's foreach loops take the root of the second moment into new tensors (torch/optim/adamw.py)."""
    plan = contents.load.plan
    off = plan.offload is not Offload.NONE or plan.runtime.optimizer_in_backward
    loop = plan.runtime.optimizer_loop
    if off or loop is OptimizerLoop.FUSED or plan.optimizer.endswith("fused"):
        return ("buffers", "buffers.optimizer_temporary", 0)
    held = contents.states.optimizer // 2
    if loop is OptimizerLoop.SINGLE:
        held = ceil_div(held * contents.largest_tensor, max(contents.trainable, 1))
    return ("buffers", "buffers.optimizer_temporary", held)


def persist(contents: Contents) -> bool:
    """Whether gradients exist already when the worst microbatch runs forward."""
    return contents.load.plan.accumulation > 1


def in_chunks(contents: Contents) -> bool:
    """Whether the head runs inside the loss, so that its gradient exists at the loss already."""
    return contents.loss_kernel is LossKernel.CHUNKED_HEAD
