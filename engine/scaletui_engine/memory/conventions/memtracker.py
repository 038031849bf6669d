"""PyTorch's FSDPMemTracker, in its own accounting: FSDP2 in eager mode, storages rounded up to 512 bytes.

Source: torch/distributed/_tools/fsdp2_mem_tracker.py and mem_tracker.py. The tracker runs the model under
FakeTensorMode on the CPU, so norms are unfused and attention is the CPU's flash kernel. Its optimizer state
includes Adam's step tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases import moments, peak
from scaletui_engine.model import TpRule
from scaletui_engine.plan import Axes, Plan, Recompute, Strategy
from scaletui_engine.runtime import Framework, LossKernel, OptimizerLoop, Runtime
from scaletui_engine.tensors import tensors
from scaletui_engine.units import ceil_div, round_up

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Tensor

BLOCK: Final = 512
"""Rounding of the CUDA caching allocator, which the tracker applies."""
_FP32: Final = 4
_STEP: Final = 4


@dataclass(frozen=True, slots=True)
class TrackerCase:
    """One job as the tracker runs it: a Llama-shaped model, one unit a layer and the root."""

    arch: Arch
    world: int
    batch: int
    seq: int
    tp: int = 1
    replicas: int = 1
    recompute: bool = False
    reshard: bool = True
    mixed: bool = True
    """bf16 compute over fp32 weights, fp32 reduce; False is fp32 throughout."""
    moments: int = 2
    """Two for Adam, none for SGD."""
    fused: bool = False
    fp32_logits: bool = False

    @property
    def shard(self) -> int:
        """Ranks of a shard group."""
        return self.world // (self.tp * self.replicas)


@dataclass(frozen=True, slots=True)
class TrackerMarks:
    """Bytes of the tracker's categories outside the passes."""

    sharded_params: int
    unsharded_params: int
    """After the forward pass; 0 when it reshards."""
    sharded_grads: int
    """After the backward pass and the step, until they are zeroed."""
    optimizer: int


@dataclass(frozen=True, slots=True)
class TrackerPeak:
    """The second iteration's peak."""

    bytes: int
    phase: str
    """Message id of the moment, as in a budget."""


def tracker_marks(case: TrackerCase) -> TrackerMarks:
    """What is held between the passes, to the byte."""
    shapes = [shape for tensor in tensors(case.arch) for shape in _shapes(tensor, case)]
    own = [_shard(shape, case) for shape in shapes]
    steps = len(shapes) * BLOCK if case.moments else 0
    item = 2 if case.mixed else _FP32
    whole = sum(_rounded(numel * case.shard * item) for numel in own)
    return TrackerMarks(
        sharded_params=sum(_rounded(numel * _FP32) for numel in own),
        unsharded_params=0 if case.reshard else whole,
        sharded_grads=sum(_rounded(numel * _FP32) for numel in _units(case)),
        optimizer=steps + case.moments * sum(_rounded(numel * _FP32) for numel in own),
    )


def tracker_peak(case: TrackerCase) -> TrackerPeak:
    """The largest moment of our own phases under the tracker's conditions."""
    (contents,) = contents_of(load_of(case.arch, tracker_plan(case)))
    found = peak(moments(contents))
    steps = len(tensors(case.arch)) * _STEP if case.moments else 0
    return TrackerPeak(found.total + steps, found.phase)


def tracker_plan(case: TrackerCase) -> Plan:
    """The plan that the tracker's job is."""
    return Plan(
        axes=Axes(tp=case.tp, dp_replicate=case.replicas, dp_shard=case.shard),
        strategy=Strategy.HSDP if case.replicas > 1 else Strategy.FSDP,
        precision="bf16-mixed" if case.mixed else "fp32",
        optimizer="adamw" if case.moments else "sgd",
        recompute=Recompute.FULL if case.recompute else Recompute.NONE,
        reshard_after_forward=case.reshard,
        sequence_parallel=False,
        micro_batch=case.batch,
        global_batch=case.batch * case.shard * case.replicas,
        seq=case.seq,
        runtime=Runtime(
            framework=Framework.TORCH,
            loss=LossKernel.UPCAST if case.fp32_logits else LossKernel.PLAIN,
            optimizer_loop=OptimizerLoop.FUSED if case.fused else OptimizerLoop.FOREACH,
            reshard_root=case.reshard,
            reshard_last=case.reshard,
            fused_norm=False,
            split_vocab=False,
        ),
    )


def _shapes(tensor: Tensor, case: TrackerCase) -> list[tuple[int, ...]]:
    """Local shapes of every copy; the tracker's job splits the layers' matrices by TP and nothing else."""
    rows, *rest = tensor.shape
    if tensor.layers is not None and tensor.tp in (TpRule.COLUMN, TpRule.KV):
        rows //= case.tp
    if tensor.layers is not None and tensor.tp is TpRule.ROW:
        rest = [rest[0] // case.tp]
    return [(rows, *rest)] * tensor.copies


def _shard(shape: tuple[int, ...], case: TrackerCase) -> int:
    """Elements of a padded shard along dim 0."""
    return ceil_div(shape[0], case.shard) * prod(shape[1:])


def _units(case: TrackerCase) -> list[int]:
    """Padded shard elements of each unit: its gradients are one buffer."""
    root = layer = 0
    for tensor in tensors(case.arch):
        own = _shard(_shapes(tensor, case)[0], case)
        if tensor.layers is None:
            root += own
        else:
            layer += own
    return [root, *[layer] * case.arch.layers]


def _rounded(size: int) -> int:
    return round_up(size, BLOCK)
