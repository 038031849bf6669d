"""Memory outside the allocator: CUDA context, NCCL, libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.budget import ByteRange
from scaletui_engine.units import GIB, MIB

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents

CONTEXT_LAZY = 480 * MIB
"""CUDA context with lazy module loading, A100, torch 2.1 (stas00/ml-engineering, training/performance)."""
CONTEXT_EAGER = 940 * MIB
"""The same with CUDA_MODULE_LOADING=EAGER."""
NCCL_LOW = 750 * MIB
NCCL_HIGH = 1485 * MIB
"""What NCCL's initialisation and first barrier add on 8 GPUs (same source)."""
MESH_HIGH = round(5.84 * GIB)
"""All that a rank of a mesh of several axes had outside the allocator: 0.52 GiB CUDA, 0.39 the world's
communicator, 1.00 the groups', 0.96 FSDP and optimizer, 2.97 the first forward pass (mlc-ai/pith-train,
tools/memory_estimator, `estimate_non_pytorch_bytes`, PP 4 and EP 8 on H100)."""


def outside_range(contents: Contents) -> ByteRange:
    """CUDA context, NCCL and libraries of one rank."""
    axes = contents.load.plan.axes
    if axes.world == 1:
        return ByteRange(CONTEXT_LAZY, CONTEXT_EAGER, "outside.context")
    groups = sum(
        degree > 1 for degree in (axes.tp, axes.cp, axes.pp, axes.ep, axes.dp_shard, axes.dp_replicate)
    )
    high = MESH_HIGH if groups > 1 else CONTEXT_EAGER + NCCL_HIGH
    return ByteRange(CONTEXT_LAZY + NCCL_LOW, high, "outside.context_and_nccl")
