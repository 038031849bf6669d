"""The piece of a parameter that FSDP2 shards, and how: read from the placements that a plan shows.

FSDP2's mesh axis comes first in a parameter's mesh and is cut last; axes behind it (tensor parallelism) have
cut the parameter before. Sources, in torch 2.13: `_init_sharding_spec` of
torch/distributed/fsdp/_fully_shard/_fsdp_param.py, and torch/distributed/tensor/placement_types.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.fsdp2 import Shard
from scaletui_engine.sharding.chunk import chunk_length

if TYPE_CHECKING:
    from scaletui_engine.live.plan_document import JobPlan, PlannedParameter

_SHARD: Final = re.compile(r"_?S\((\d{1,2})(?:, ?\d+)?\)")
WHOLE: Final = Shard()


class PlacementError(ValueError):
    """A placement that no rule covers; `str()` is the placement."""


def local_parameter(parameter: PlannedParameter, plan: JobPlan) -> tuple[tuple[int, ...], Shard]:
    """The shape that FSDP2 cuts on this rank, and the cut (whole outside FSDP). Raises PlacementError."""
    cuts = _cuts(parameter)
    by_fsdp = parameter.fsdp_group is not None and plan.wrapper == "fsdp2"
    first = next((axis for axis in sorted(cuts)), None) if by_fsdp else None
    if first is not None and _shards(parameter, plan) != parameter.mesh_shape[first]:
        first = None
    shape = parameter.shape
    for axis in sorted(cuts, reverse=True):
        if axis != first:
            shape = _cut(shape, cuts[axis], parameter.mesh_shape[axis], parameter.coordinate[axis])
    if first is None:
        return shape, WHOLE
    return shape, Shard(parameter.mesh_shape[first], parameter.coordinate[first], cuts[first])


def _cuts(parameter: PlannedParameter) -> dict[int, int]:
    """Mesh axis -> tensor dim for every axis that shards the parameter."""
    cuts: dict[int, int] = {}
    for axis, placement in enumerate(parameter.placements):
        match = _SHARD.fullmatch(placement)
        if match is not None and int(match[1]) < len(parameter.shape):
            cuts[axis] = int(match[1])
        elif placement != "R":
            raise PlacementError(placement)
    return cuts


def _shards(parameter: PlannedParameter, plan: JobPlan) -> int:
    group = parameter.fsdp_group
    if group is None or group >= len(plan.groups):
        raise PlacementError(f"FSDP group {group} of {len(plan.groups)}")
    return plan.groups[group].shards


def _cut(shape: tuple[int, ...], dim: int, degree: int, rank: int) -> tuple[int, ...]:
    return (*shape[:dim], chunk_length(shape[dim], degree, rank), *shape[dim + 1 :])
