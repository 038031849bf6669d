"""Layouts against torch's own arithmetic and mesh: any dims, any axes, uneven, empty and strided."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor._utils import _compute_local_shape_and_global_offset
from torch.distributed.tensor.placement_types import _StridedShard

from scaletui_engine.sharding.layout import Layout
from scaletui_engine.sharding.mesh import Axis, Mesh
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
