"""FSDP2 and HSDP: every parameter cut alone, after tensor parallelism has cut it.

With TP on the same dim there are two layouts: the real one (TP's chunk, then FSDP's chunk of it) and the
one that the DTensor's placements declare. They differ where the chunks are uneven (pytorch #168134).
Source: torch 2.13, torch/distributed/fsdp/_fully_shard/_fsdp_param.py, `_init_sharded_param`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, ValueRangeError
from scaletui_engine.sharding.chunk import chunk_size
from scaletui_engine.sharding.layout import Layout
from scaletui_engine.sharding.mesh import Axis, Mesh
from scaletui_engine.sharding.placement import REPLICATE, Kind, Placement, shard

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Fsdp2:
    """How `fully_shard` cuts a parameter."""

    shards: int
    replicas: int = 1
    """Above 1: HSDP, the mesh (replicate, shard)."""
    dim: int = 0
    tp: int = 1
    tp_dim: int | None = None
    """The dim that TP cuts; None for a parameter that TP leaves whole."""
    hybrid: bool = False
    """Keep the replicate axis in the mesh also where it has one rank."""

    @property
    def mesh(self) -> Mesh:
        """(replicate, shard, tp), without the axes that are not there."""
        axes = [Axis("dp_shard", self.shards)]
        if self.replicas > 1 or self.hybrid:
            axes.insert(0, Axis("dp_replicate", self.replicas))
        if self.tp > 1:
            axes.append(Axis("tp", self.tp))
        return Mesh(tuple(axes))


@dataclass(frozen=True, slots=True)
class Fsdp2Param:
    """One parameter's two layouts and its padded size."""

    real: Layout
    declared: Layout
    padded_shape: tuple[int, ...]
    """What every rank allocates and sends: the first chunk, also on a rank whose own chunk is empty."""

    def agrees(self, rank: int) -> bool:
        """Whether the metadata of a rank describes the bytes that it holds."""
        return self.real.slices(rank) == self.declared.slices(rank)


def fsdp2_param(shape: tuple[int, ...], cut: Fsdp2) -> Fsdp2Param:
    """The layouts of one parameter.

    Raises DivisibilityError for an uneven cut of another dim than the first, which torch refuses, and
    ValueRangeError for a scalar or a dim that is not there.
    """
    _check(shape, cut)
    mesh = cut.mesh
    tensor = [REPLICATE if cut.tp_dim is None else shard(cut.tp_dim)] if cut.tp > 1 else []
    before: list[Placement] = [REPLICATE] * (len(mesh.axes) - 1 - len(tensor))
    same = bool(tensor) and cut.tp_dim == cut.dim
    real = (*before, shard(cut.dim), *tensor)
    declared = (*before, shard(cut.dim, cut.tp if same else 1), *tensor)
    order = tuple(reversed(range(len(real))))
    layout = Layout(shape, mesh, real, order)
    return Fsdp2Param(layout, replace(layout, placements=declared, order=()), layout.padded_shape())


def held_layout(declared: Layout) -> Layout | None:
    """What ranks hold where the declared layout has a strided shard: the axes behind it cut the dim first.

    None for a layout without one, or whose factor is not the ranks of those axes.
    """
    placements, shape = declared.placements, declared.mesh.shape
    strided = [index for index, placement in enumerate(placements) if placement.kind is Kind.STRIDED]
    for index in strided:
        dim = placements[index].dim
        behind = (
            at
            for at in range(index + 1, len(placements))
            if placements[at].cuts and placements[at].dim == dim
        )
        if placements[index].factor != prod(shape[at] for at in behind):
            return None
    if not strided:
        return None
    plain = tuple(shard(each.dim) if each.kind is Kind.STRIDED else each for each in placements)
    return replace(declared, placements=plain, order=tuple(reversed(range(len(plain)))))


def _check(shape: tuple[int, ...], cut: Fsdp2) -> None:
    if not 0 <= cut.dim < len(shape):
        raise ValueRangeError(f"shape {shape} has {len(shape)} dims, so there is no dim {cut.dim} to shard")
    length = shape[cut.dim]
    if cut.tp > 1 and cut.tp_dim == cut.dim:
        length = chunk_size(length, cut.tp)
    if cut.dim and length % cut.shards:
        raise DivisibilityError(
            f"shape {shape}, dim {cut.dim}: {length} / {cut.shards} ranks = {length / cut.shards:.4g}: "
            f"FSDP2 refuses uneven sharding of a dim other than 0",
            "dim 0",
        )


def shard_dim_of_experts(experts: int, shards: int) -> int:
    """torchtitan cuts experts by dim 1 where more ranks share them (efsdp x ep) than there are experts."""
    return 1 if shards > experts else 0


def padded_numel(shape: tuple[int, ...], shards: int, dim: int = 0) -> int:
    """Elements that every rank allocates for a parameter cut into `shards`."""
    if shards == 1:
        return prod(shape)
    return prod(shape[:dim]) * chunk_size(shape[dim], shards) * prod(shape[dim + 1 :])


@dataclass(frozen=True, slots=True)
class UnitElements:
    """Elements of the parameters of one `fully_shard` call."""

    real: int
    padded_per_rank: int
    gathered: int
    """All-gather output and reduce-scatter input: the padded chunks of all ranks."""


def unit_elements(shapes: Iterable[tuple[int, ...]], shards: int) -> UnitElements:
    """What one unit gathers, padding included (torch `_fsdp_collectives.py`, foreach_all_gather)."""
    listed = list(shapes)
    padded = sum(padded_numel(shape, shards) for shape in listed)
    return UnitElements(sum(map(prod, listed)), padded, padded * shards)


def unshard_groups(shards: int, reshard_after_forward: int) -> tuple[tuple[int, ...], ...]:
    """The groups of the backward all-gather with an integer `reshard_after_forward`: contiguous ranks.

    Raises DivisibilityError where it does not divide the shards.
    """
    if reshard_after_forward < 1 or shards % reshard_after_forward:
        raise DivisibilityError(
            f"{shards} shards / reshard_after_forward {reshard_after_forward} is not whole"
        )
    step = reshard_after_forward
    return tuple(tuple(range(first, first + step)) for first in range(0, shards, step))
