"""The axes that cut tensors inside a pipeline stage, slowest first, as ranks are numbered there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.sharding.mesh import Axis

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load


def dense_axes(load: Load) -> list[Axis]:
    """(dp_replicate, dp_shard x cp, tp), tp cut in two where it has more ranks than key/value heads."""
    axes = load.plan.axes
    data = [Axis("dp_replicate", axes.dp_replicate), Axis("dp_shard_cp", axes.dp_shard * axes.cp)]
    return [*data, *_tensor_axes(load)]


def batch_axes(load: Load) -> list[Axis]:
    """The same with dp_shard and cp apart: activations are cut by both, each along a dim of its own."""
    axes = load.plan.axes
    data = [Axis("dp_replicate", axes.dp_replicate), Axis("dp_shard", axes.dp_shard), Axis("cp", axes.cp)]
    return [*data, *_tensor_axes(load)]


def _tensor_axes(load: Load) -> tuple[Axis, Axis]:
    tp, kv = load.plan.axes.tp, load.arch.kv_heads
    copies = tp // kv if load.arch.mla is None and kv < tp else 1
    return Axis("tp", tp // copies), Axis("tp_copy", copies)


def expert_axes(load: Load) -> list[Axis]:
    """(dp_replicate, efsdp, ep, etp): torchtitan's sparse mesh, with Megatron's etp inside."""
    axes = load.plan.axes
    ranks = axes.dp_replicate * axes.dp_shard * axes.cp * axes.tp
    shards, rest = divmod(axes.dp_shard * axes.cp * axes.tp, axes.ep * load.etp)
    replicas = axes.dp_replicate
    if rest or not shards:
        replicas, shards = 1, ranks // (axes.ep * load.etp)
    return [Axis("dp_replicate", replicas), Axis("efsdp", shards), Axis("ep", axes.ep), Axis("etp", load.etp)]
