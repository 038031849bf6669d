"""The moments of a step at which memory can peak, each as parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import Parts
from scaletui_engine.plan import Offload, Strategy
from scaletui_engine.runtime import OptimizerLoop
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents

_FP32 = 4


@dataclass(frozen=True, slots=True)
class Moment:
    """The parts at one moment."""

    phase: str
    """Message id: "forward", "loss", "backward", "end_of_backward", "step"."""
    parts: Parts


def moments(contents: Contents) -> tuple[Moment, ...]:
    """Every candidate for the peak of one pipeline rank, in the order of a step."""
    forward = "loss" if contents.has_head else "forward"
    return (
        Moment(forward, _at_loss(contents)),
        Moment("backward", _at_backward(contents)),
        Moment("end_of_backward", _at_end(contents)),
        Moment("step", _at_step(contents)),
    )


def peak(contents: Contents) -> Moment:
    """The moment with the largest sum of parts; the first of equals."""
    return max(moments(contents), key=lambda moment: moment.parts.total)


def _at_loss(contents: Contents) -> Parts:
    load = contents.load
    units = 2 if load.plan.strategy.shards_weights else 0
    return _parts(
        contents,
        gradients=_gradients_persist(contents),
        activations=contents.activation_bytes + (2 * contents.stream if contents.has_head else 0),
        loss=contents.loss_bytes,
        unsharded=_root(contents) + _gathered(contents, units - 1) if units else 0,
    )


def _at_backward(contents: Contents) -> Parts:
    """The last layer runs backward: its working set is whole, its gradient about to be reduced."""
    load, kind = contents.load, contents.largest
    working = kind.activations.full_bytes - kind.activations.kept_bytes if kind else 0
    gradient = 0
    if kind is not None and load.plan.strategy.shards_gradients:
        gradient = kind.unit.trainable * (load.precision.compute + load.precision.reduce)
    units = 2 if load.plan.strategy.shards_weights else 0
    return _parts(
        contents,
        gradients=True,
        activations=contents.activation_bytes + working + 2 * contents.stream,
        unsharded=gradient + (_gathered(contents, units) + _root(contents) if units else 0),
    )


def _at_end(contents: Contents) -> Parts:
    load = contents.load
    if not load.plan.strategy.shards_weights:
        return _parts(contents, gradients=True, activations=0)
    reduced = contents.root_numel * (load.precision.compute + load.precision.reduce)
    return _parts(contents, gradients=True, activations=0, unsharded=_root(contents) + reduced)


def _at_step(contents: Contents) -> Parts:
    load = contents.load
    temporary = 0
    if load.plan.runtime.optimizer_loop is OptimizerLoop.FOREACH and load.plan.offload is Offload.NONE:
        states = contents.states
        temporary = states.master_weights or states.weights * _FP32 // max(load.precision.weights, 1)
    return _parts(contents, gradients=True, activations=0, buffers=temporary)


def _parts(
    contents: Contents,
    *,
    gradients: bool,
    activations: int,
    loss: int = 0,
    unsharded: int = 0,
    buffers: int = 0,
) -> Parts:
    load, states = contents.load, contents.states
    on_device = load.plan.offload is Offload.NONE
    weights = 0 if load.plan.offload is Offload.PARAMS else states.weights
    return Parts(
        weights=weights,
        gradients=states.gradients if gradients else 0,
        optimizer=states.optimizer if on_device else 0,
        master_weights=states.master_weights if on_device else 0,
        activations=activations,
        loss=loss,
        unsharded=unsharded + _never_resharded(contents),
        buffers=buffers + _persistent_buffers(contents),
    )


def _gradients_persist(contents: Contents) -> bool:
    """Whether gradients exist already in the forward pass of the worst microbatch."""
    load = contents.load
    return load.megatron or load.plan.accumulation > 1


def _root(contents: Contents) -> int:
    return contents.root_numel * contents.load.precision.compute


def _gathered(contents: Contents, units: int) -> int:
    kind = contents.largest
    return kind.unit.numel * contents.load.precision.compute * units if kind else 0


def _never_resharded(contents: Contents) -> int:
    """Units that stay whole from forward to backward, beyond the two that are counted anyway."""
    load = contents.load
    if load.plan.reshard_after_forward or not load.plan.strategy.shards_weights:
        return 0
    whole = contents.layers_numel * load.precision.compute
    return max(whole - _gathered(contents, 1), 0)


def _persistent_buffers(contents: Contents) -> int:
    load = contents.load
    if load.plan.strategy is Strategy.DDP and not load.plan.runtime.gradient_as_bucket_view:
        return contents.states.gradients
    if load.megatron and load.plan.runtime.gradient_fusion:
        return _dummy_gradients(contents)
    return 0


def _dummy_gradients(contents: Contents) -> int:
    """Megatron's gradient fusion hands autograd one 16-bit dummy for each distinct weight shape."""
    shapes = {
        tensor.shape
        for kind, _ in contents.layers
        for tensor in kind.unit.tensors
        if len(tensor.shape) == 2 and not tensor.expert
    }
    elements = sum(rows * columns for rows, columns in shapes)
    if contents.has_head:
        elements += ceil_div(contents.load.vocab, contents.load.tp) * contents.load.arch.hidden
    return elements * contents.load.item
