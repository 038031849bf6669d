"""What the caching allocator keeps from the driver for a rank's peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.budget import ByteRange
from scaletui_engine.memory.loss import loss_hole
from scaletui_engine.runtime import Framework
from scaletui_engine.units import MIB

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases import Peaks

RESERVE_FACTOR: Final = 1.017
"""Reserved over the sum of the pools' high-water marks: what rounding and splitting of blocks leave.

The one calibrated constant: the median over half of the sources of published torchtitan runs without TP
(tests/golden/memory.json), which let the allocator's segments grow (expandable_segments); the other half
alone would give 1.016.
"""
RESERVE_HIGH: Final = 1.10
"""The most that published runs reserve over the pools: torchtitan's up to 1.07; Megatron's on B200, which do
not say how their allocator was set, 1.02 to 1.09 over what was allocated."""
WORKSPACE_LOW: Final = 4096 * 1024 * 2 + 16 * 1024 * 8
"""Least that cuBLAS works in: one thread and stream before Hopper (aten/src/ATen/cuda/CublasHandlePool.cpp,
`parseChosenWorkspaceSize`). It comes from the caching allocator, and no tracker of tensors sees it."""
WORKSPACE_HIGH: Final = 32 * MIB
"""The same on Hopper and Blackwell, and Transformer Engine's own there (pytorch/module/base.py,
`get_cublas_workspace_size_bytes`)."""
THREADS: Final = 2
"""Threads that multiply, each with a handle of its own: the program's and autograd's."""
GROUPED: Final = 4
"""Streams, each with a workspace, of Transformer Engine's grouped products (`get_num_cublas_streams`)."""


@dataclass(frozen=True, slots=True)
class Streams:
    """What equal ranks have in common besides their peaks."""

    several: bool
    """FSDP allocates on three streams, everything else on one: a compiled graph's collectives too."""
    gather: int
    hole: int
    """Bytes that the freed logits leave, where the loss is the peak of its stream."""
    workspaces: int
    """The most that workspaces of matrix products take."""


def streams_of(contents: Contents) -> Streams:
    """The streams of a rank and what they hold beside the default one's."""
    plan = contents.load.plan
    several = plan.strategy.shards_weights and contents.load.shard > 1 and not plan.runtime.traced
    hole = loss_hole(contents.load) if contents.head is not None else 0
    return Streams(several, _gather_pool(contents) if several else 0, hole, _workspaces(contents))


def _workspaces(contents: Contents) -> int:
    """torch's for each thread; Transformer Engine's own beside them, and those of grouped experts.

    Published peaks of Megatron on B200 are so much above what the tensors take (tests/golden/memory.json).
    """
    count = THREADS
    if contents.load.framework is Framework.MEGATRON:
        count += 1 + (GROUPED if contents.load.arch.moe is not None else 0)
    return count * WORKSPACE_HIGH


def reserved_range(streams: Streams, peaks: Peaks, added: int, allocated: int) -> ByteRange:
    """What is reserved at a rank's peak: at least what is allocated, most likely the pools and a little."""
    pools = pooled(streams, peaks, added, allocated)
    low, high = allocated + WORKSPACE_LOW, round(pools * RESERVE_HIGH) + streams.workspaces
    return ByteRange(low, high, "reserved.caching_allocator", max(round(pools * RESERVE_FACTOR), low))


def pooled(streams: Streams, peaks: Peaks, added: int, allocated: int) -> int:
    """The sum of the high-water marks of a rank's pools, whose place in the pipeline adds so many bytes.

    One pool a CUDA stream, and each keeps what it once had: the default stream's (states, activations, loss,
    whole weights and their gradients), the all-gather's buffers, the sharded gradients that reduce-scatter
    leaves, and a freed block that nothing later fits into.
    """
    if streams.several:
        own = max(peaks.own_passes + added, peaks.own_step)
        return own + streams.gather + peaks.reduced + _hole(streams, peaks.own_loss + added, own)
    return allocated + _hole(streams, peaks.own_loss + peaks.reduced_loss + added, allocated)


def _hole(streams: Streams, at_loss: int, peak: int) -> int:
    """Only where the loss is the peak of the stream does its hole add to the reserve."""
    return max(at_loss + streams.hole - peak, 0) if streams.hole else 0


def _gather_pool(contents: Contents) -> int:
    """The root's buffer lives until the second layer is gathered; later on there are two layers'."""
    runtime = contents.load.plan.runtime
    unit = contents.largest.unit.numel if contents.largest else 0
    roots = [end.numel for end in contents.ends]
    root = (max(roots, default=0) if runtime.split_root else sum(roots)) + unit
    return max(root, unit * (1 + runtime.prefetch)) * contents.load.precision.compute
