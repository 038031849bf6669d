"""What torch makes of a data-parallel mesh where that is not what it seems.

Run with torch 2.13 on gloo (tests/oracles/test_sharding_one_rank_axes.py). FSDP1 on a mesh (n, 1) warns,
goes to NO_SHARD and reduces over the shard axis alone, which has one rank (pytorch #154888): the replicas'
gradients are never summed. FSDP2 keeps parameters whole there and all-reduces them.
FSDP2 refuses to cut any dim but the first unevenly (_fsdp_param.py, `_init_sharded_param`); torchtitan has it
cut experts along the second among more ranks than there are experts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.load import load_of
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.fsdp2 import shard_dim_of_experts

if TYPE_CHECKING:
    from scaletui_engine.model import Arch
    from scaletui_engine.plan import Plan

UNEVEN_EXPERTS: Final = "mesh.uneven_experts"
NO_SHARD: Final = "mesh.fsdp1_no_shard"
ONE_SHARD: Final = "mesh.hsdp_one_shard"
ONE_REPLICA: Final = "mesh.hsdp_one_replica"


def mesh_notes(arch: Arch, plan: Plan) -> tuple[str, ...]:
    """Message ids of what a person has to know about the plan's data-parallel mesh; mostly none."""
    if _uneven_experts(arch, plan):
        return (UNEVEN_EXPERTS, *_one_rank(plan))
    return _one_rank(plan)


def _uneven_experts(arch: Arch, plan: Plan) -> bool:
    """Whether FSDP2 would have to cut rows of all experts unevenly; where experts are whole it pads."""
    if arch.moe is None or plan.strategy not in (Strategy.FSDP, Strategy.HSDP):
        return False
    shards = load_of(arch, plan).expert_shard
    by_rows = shard_dim_of_experts(arch.moe.experts, shards * plan.axes.ep) == 1
    return by_rows and (arch.moe.ffn % shards > 0 or arch.hidden % shards > 0)


def _one_rank(plan: Plan) -> tuple[str, ...]:
    """Axes of one rank."""
    if never_reduces(plan):
        return (NO_SHARD,)
    if plan.strategy is not Strategy.HSDP:
        return ()
    if plan.axes.dp_shard * plan.axes.cp == 1:
        return (ONE_SHARD,)
    return (ONE_REPLICA,) if plan.axes.dp_replicate == 1 else ()


def never_reduces(plan: Plan) -> bool:
    """Whether replicas train apart: FSDP1 over a shard axis of one rank."""
    axes = plan.axes
    return plan.strategy is Strategy.FSDP1 and axes.dp_replicate > 1 and axes.dp_shard * axes.cp == 1
