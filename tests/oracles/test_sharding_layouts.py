"""Layouts against torch's own arithmetic and mesh: any dims, any axes, uneven, empty and strided."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import torch
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor._utils import _compute_local_shape_and_global_offset
from torch.distributed.tensor.placement_types import _StridedShard

from scaletui_engine.catalog import load_gpu
from scaletui_engine.cluster import Cluster
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.model import Arch, Model
from scaletui_engine.runtime import Framework, Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.layout import Layout
from scaletui_engine.sharding.megatron_tp import FusedQkv
from scaletui_engine.sharding.mesh import Axis, Mesh
from scaletui_engine.sharding.parameter_view import parameter_view
from scaletui_engine.sharding.placement import PARTIAL, REPLICATE, Placement, shard

pytestmark = pytest.mark.torch

LAYOUTS, BATCHES = 20_000, 20


def random_layout(dice: random.Random) -> Layout:
    """1 to 4 dims of 1 to 33, 1 to 4 axes of 1 to 5."""
    dims, axes = dice.randint(1, 4), dice.randint(1, 4)
    shape = tuple(dice.choice((1, 2, 3, 5, 7, 8, 12, 16, 33)) for _ in range(dims))
    mesh = Mesh(tuple(Axis(f"a{index}", dice.randint(1, 5)) for index in range(axes)))
    kinds = [
        dice.choice((REPLICATE, PARTIAL, shard(dice.randrange(dims)), shard(dice.randrange(dims)),
                     shard(dice.randrange(dims), dice.randint(2, 5))))
        for _ in range(axes)
    ]  # fmt: skip
    return Layout(shape, mesh, tuple(kinds))


def torch_placement(placement: Placement) -> Shard | _StridedShard | Replicate | Partial:
    if placement == REPLICATE:
        return Replicate()
    if placement == PARTIAL:
        return Partial()
    if placement.factor > 1:
        return _StridedShard(placement.dim, split_factor=placement.factor)
    return Shard(placement.dim)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_local_shape_and_offset_of_random_layouts(batch: int) -> None:
    dice = random.Random(batch)
    differing, seen = [], Counter[str]()
    for _ in range(LAYOUTS // BATCHES):
        layout = random_layout(dice)
        rank = dice.randrange(layout.mesh.world)
        theirs = _compute_local_shape_and_global_offset(
            layout.shape,
            layout.mesh.shape,
            list(layout.mesh.coordinate(rank)),
            [torch_placement(each) for each in layout.placements],
        )
        if (layout.local_shape(rank), layout.offset(rank)) != theirs:
            differing.append((layout, rank, theirs))
        seen["empty"] += layout.numel(rank) == 0
        seen["strided"] += any(each.factor > 1 for each in layout.placements)
    assert differing == []
    assert min(seen["empty"], seen["strided"]) > 50


@pytest.mark.parametrize(("shards", "tp", "head_dim"), [(2, 4, 4), (3, 4, 4), (5, 8, 8), (8, 4, 3)])
def test_fsdp2_of_megatrons_fused_rows(shards: int, tp: int, head_dim: int) -> None:
    """linear_qkv is cut by tp, and fully_shard cuts what is left with torch.chunk: all three at once."""
    arch = Arch(layers=1, hidden=8, heads=2 * tp, kv_heads=2, head_dim=head_dim, ffn=16, vocab=64)
    model = Model("tiny", "test", arch, None, "made for tests")
    cluster = Cluster(load_gpu("h100-sxm"), shards * tp)
    choices = PlanChoices(tp=tp, seq=8 * tp, runtime=Runtime(framework=Framework.MEGATRON))
    world = Scenario(model, cluster, plan_from(choices, model, cluster))
    fused = FusedQkv(arch.heads, arch.kv_heads, head_dim, tp)
    rows = [(head, row) for head in fused.layout() for row in range(head_dim)]
    for kind in "qkv":
        layout = parameter_view(world, f"layers.0.attention.w{kind}").map.layout
        for rank in range(shards * tp):
            shard, place = divmod(rank, tp)
            chunks = torch.chunk(torch.arange(len(rows)).chunk(tp)[place], shards)
            held = [rows[int(at)] for at in chunks[shard]] if shard < len(chunks) else []
            expected = [int(head[1:]) * head_dim + row for head, row in held if head[0] == kind]
            found = [at for start, stop in layout.slices(rank)[0] for at in range(start, stop)]
            assert found == expected
