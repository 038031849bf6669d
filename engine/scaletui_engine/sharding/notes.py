"""What torch makes of a data-parallel mesh with an axis of one rank, where that is not what it seems.

Run with torch 2.13 on gloo (tests/oracles/test_sharding_one_rank_axes.py). FSDP1 on a mesh (n, 1) warns,
goes to NO_SHARD and reduces over the shard axis alone, which has one rank (pytorch #154888): the replicas'
gradients are never summed. FSDP2 keeps parameters whole there and all-reduces them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.plan import Strategy

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan

NO_SHARD: Final = "mesh.fsdp1_no_shard"
ONE_SHARD: Final = "mesh.hsdp_one_shard"
ONE_REPLICA: Final = "mesh.hsdp_one_replica"


def mesh_notes(plan: Plan) -> tuple[str, ...]:
    """Message ids of what a person has to know about the plan's data-parallel mesh; mostly none."""
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
