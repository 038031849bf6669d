"""One tensor of a scenario on its ranks: cut by TP and EP, then by the strategy's way over the data ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.memory.load import MEGATRON, Load, load_of
from scaletui_engine.model import Role, TpRule
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.activations import activation_axes
from scaletui_engine.sharding.axes import dense_axes, expert_axes
from scaletui_engine.sharding.fsdp2 import shard_dim_of_experts
from scaletui_engine.sharding.fused_qkv import BY_ROWS, fused_rows
from scaletui_engine.sharding.layout import Layout
from scaletui_engine.sharding.mesh import Axis, Mesh
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.placement import PARTIAL, REPLICATE, Kind, Placement, shard
from scaletui_engine.sharding.zero import Zero3Param, persists

if TYPE_CHECKING:
    from scaletui_engine.model import Tensor
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.intervals import Interval


class Flat(StrEnum):
    """How a tensor's elements are cut as one run, behind TP and EP."""

    NONE = "none"
    """By dims, as the layout says, or not at all."""
    PARAMETER = "parameter"
    """Every parameter alone, equal runs (ZeRO-3)."""
    UNIT = "unit"
    """The parameters of a layer end to end (FSDP1)."""
    BUFFER = "buffer"
    """All parameters of the stage end to end (ZeRO-1 and 2, Megatron's distributed optimizer)."""


_DIMS: Final = {TpRule.COLUMN: 0, TpRule.VOCAB: 0, TpRule.KV: 0, TpRule.ROW: 1}
JOINT: Final = "dp_shard_tp"
"""The axis of both, where FSDP2 cuts Megatron's fused rows behind tp."""


@dataclass(frozen=True, slots=True)
class TensorMap:
    """The layout of one tensor inside a pipeline stage; ranks are counted from the stage's first."""

    tensor: Tensor
    layout: Layout
    """Of the whole tensor, experts stacked along a first dim of their own; padded rows included."""
    declared: Layout
    """What DTensor's placements say; the same but for strided shards that are uneven."""
    flat: Flat
    degree: int
    """Ranks over which the data-parallel cut runs."""
    lane: int
    """Ranks between neighbours of that cut."""
    groups: int = 1
    """Groups of `degree` ranks among which a second copy's padding is shared."""
    stays: bool = False
    """Whether a whole copy stays beside the slice from pass to pass: ZeRO-3's small parameters."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole tensor as it is stored, padding of the vocabulary included."""
        return self.layout.shape

    def allocated(self, inner: int) -> int:
        """Elements that a rank allocates, flat buffers left out: its own where rows are listed."""
        if self.is_listed and self.flat is not Flat.PARAMETER:
            return self.layout.numel(inner)
        return self.cut_of(inner).allocated if self.is_listed else self.even_numel

    @property
    def is_listed(self) -> bool:
        """Whether the pieces that TP leaves are unlike: rows of Megatron's fused matrix."""
        return any(placement.kind is Kind.LISTED for placement in self.layout.placements)

    def variant(self, inner: int) -> int:
        """Which of the unlike pieces a rank has: its place in TP; 0 where all are alike."""
        return inner % self.lane if self.is_listed else 0

    def whole(self, inner: int) -> int:
        """Elements of the piece that TP and EP leave a rank."""
        return self.layout.numel(inner) if self.is_listed else self.whole_numel

    @property
    def even_numel(self) -> int:
        """Elements of the longest piece, which every rank allocates."""
        if self.flat is Flat.PARAMETER:
            return self.cut.allocated
        return prod(self.layout.padded_shape())

    @property
    def cut(self) -> Zero3Param:
        """How a parameter that is cut alone is cut."""
        return Zero3Param(self.whole_numel, self.degree, self.groups)

    def cut_of(self, inner: int) -> Zero3Param:
        """The same of the piece that a rank has."""
        return Zero3Param(self.whole(inner), self.degree, self.groups)

    @property
    def whole_numel(self) -> int:
        """Elements of the largest piece that TP and EP leave."""
        return prod(self.layout.padded_shape()) if self.flat is not Flat.NONE else self.layout.numel(0)

    def place(self, inner: int) -> int:
        """Which of the `degree` runs a rank of the stage holds."""
        return inner // self.lane % self.degree

    def run(self, inner: int) -> Interval | None:
        """Elements of the local piece, row-major, that a rank holds where every parameter is cut alone."""
        if self.flat is not Flat.PARAMETER:
            return None
        return self.cut_of(inner).range(self.place(inner))


def tensor_map(scenario: Scenario, tensor: Tensor, part: Part) -> TensorMap:
    """The map of one tensor; layers are alike, so there is one for all of them."""
    return _map(load_of(scenario.model.arch, scenario.plan), replace(tensor, layers=None), part)


@lru_cache(maxsize=4096)
def _map(load: Load, tensor: Tensor, part: Part) -> TensorMap:
    if part is Part.ACTIVATIONS:
        pairs = activation_axes(load, tensor)
        mesh, placements = Mesh(tuple(axis for axis, _ in pairs)), tuple(how for _, how in pairs)
        layout = Layout(tensor.shape, mesh, placements)
        return TensorMap(tensor, layout, layout, Flat.NONE, 1, 1)
    strategy = load.plan.strategy
    axes = expert_axes(load) if tensor.is_expert else dense_axes(load)
    shape = (tensor.experts, *_shape(tensor, load)) if tensor.is_expert else _shape(tensor, load)
    degree, lane = _data_cut(load, axes, part)
    if degree == 1 or not _is_sharded(strategy, part):
        return _unsharded(load, tensor, shape, part)
    model = _model_axes(load, tensor, axes)
    data = [(axes[0], REPLICATE), (axes[1], REPLICATE)]
    if strategy in BY_ROWS:
        if rows := fused_rows(load, tensor.name, degree):
            joint = (Axis(JOINT, degree * load.tp), rows)
            return _finish(tensor, shape, [data[0], joint], (Flat.NONE, 1, lane))
        dim = shard_dim_of_experts(tensor.experts, degree * load.plan.axes.ep) if tensor.is_expert else 0
        data[1] = axes[1], shard(dim)
        return _finish(tensor, shape, data + model, (Flat.NONE, 1, lane))
    found = _finish(tensor, shape, data + model, (_flat_of(strategy), degree, lane))
    if found.flat is not Flat.PARAMETER:
        return found
    own = found.whole_numel // max(tensor.experts // load.plan.axes.ep, 1) if tensor.is_expert else 0
    small = persists(own or found.whole_numel)
    if part is Part.SECONDARY:
        every = load.plan.axes.dp * load.plan.axes.cp
        return replace(found, flat=Flat.NONE, degree=1) if small else replace(found, groups=every // degree)
    return replace(found, stays=small and part is Part.WEIGHTS)


def _unsharded(load: Load, tensor: Tensor, shape: tuple[int, ...], part: Part) -> TensorMap:
    """What the data-parallel ranks hold whole: replicas, or the terms of a sum; Megatron's fused rows."""
    axes = expert_axes(load) if tensor.is_expert else dense_axes(load)
    over = PARTIAL if part is Part.UNREDUCED else REPLICATE
    lane = prod(axis.size for axis in axes[2:])
    model = _fused_axes(load, tensor, axes)
    if part is Part.UNREDUCED and tensor.role is Role.NORM and load.sp > 1:
        model = [(axis, PARTIAL) for axis, _ in model]
    return _finish(tensor, shape, [(axes[0], over), (axes[1], over), *model], (Flat.NONE, 1, lane))


def _model_axes(load: Load, tensor: Tensor, axes: list[Axis]) -> list[tuple[Axis, Placement]]:
    """What TP or EP does before the data-parallel cut: a flat cut takes the fused rows as they are."""
    if load.plan.strategy not in BY_ROWS:
        return _fused_axes(load, tensor, axes)
    return [(axis, _model_placement(axis, tensor, load)) for axis in axes[2:]]


def _fused_axes(load: Load, tensor: Tensor, axes: list[Axis]) -> list[tuple[Axis, Placement]]:
    if rows := fused_rows(load, tensor.name):
        return [(Axis("tp", load.tp), rows)]
    return [(axis, _model_placement(axis, tensor, load)) for axis in axes[2:]]


def _finish(
    tensor: Tensor,
    shape: tuple[int, ...],
    axes: list[tuple[Axis, Placement]],
    cut: tuple[Flat, int, int],
) -> TensorMap:
    """Axes are slowest first; the model axes behind the second cut before the data axes do."""
    kept = [(axis, placement) for axis, placement in axes if axis.size > 1] or axes[:1]
    mesh = Mesh(tuple(axis for axis, _ in kept))
    real = tuple(placement for _, placement in kept)
    layout = Layout(shape, mesh, real, tuple(reversed(range(len(kept)))))
    declared = Layout(shape, mesh, tuple(_declared(kept, index) for index in range(len(kept))))
    if any(placement.kind is Kind.LISTED for placement in real):
        # Megatron's parameters are no DTensors.
        declared = layout
    flat, degree, lane = cut
    return TensorMap(tensor, layout, declared, flat, degree, lane)


def _declared(axes: list[tuple[Axis, Placement]], index: int) -> Placement:
    """A shard becomes strided by the axes behind it that cut the same dim before."""
    placement = axes[index][1]
    if not placement.cuts:
        return placement
    factor = prod(axis.size for axis, other in axes[index + 1 :] if other.cuts and other.dim == placement.dim)
    return shard(placement.dim, factor)


def _model_placement(axis: Axis, tensor: Tensor, load: Load) -> Placement:
    """What TP or EP does to a tensor along one of its axes."""
    if axis.name == "ep":
        return shard(0)
    dim = _DIMS.get(tensor.tp)
    if dim is None or (tensor.tp is TpRule.VOCAB and not load.plan.runtime.split_vocab):
        return REPLICATE
    if axis.name == "tp_copy":
        return REPLICATE if tensor.tp is TpRule.KV else shard(dim)
    return shard(dim + 1 if tensor.is_expert else dim)


def _shape(tensor: Tensor, load: Load) -> tuple[int, ...]:
    """The stored shape: vocabulary tables with their padding."""
    if tensor.tp is TpRule.VOCAB and load.plan.runtime.split_vocab:
        return (load.vocab, *tensor.shape[1:])
    return tensor.shape


def _is_sharded(strategy: Strategy, part: Part) -> bool:
    return {
        Part.WEIGHTS: strategy.shards_weights,
        Part.GRADIENTS: strategy.shards_gradients,
        Part.OPTIMIZER: strategy.shards_optimizer,
        Part.SECONDARY: True,
    }.get(part, False)


def _data_cut(load: Load, axes: list[Axis], part: Part) -> tuple[int, int]:
    """(ranks, stride) of the data-parallel cut: ZeRO takes all of dp x cp, FSDP the shard axis alone."""
    lane = prod(axis.size for axis in axes[2:])
    if part is Part.SECONDARY:
        return load.plan.runtime.zero_hpz, lane
    whole = load.plan.strategy in (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
    return axes[1].size * (axes[0].size if whole else 1), lane


def _flat_of(strategy: Strategy) -> Flat:
    if strategy is Strategy.ZERO3:
        return Flat.PARAMETER
    return Flat.UNIT if strategy is Strategy.FSDP1 else Flat.BUFFER


def is_megatron(scenario: Scenario) -> bool:
    """Whether ZeRO-1 is Megatron's distributed optimizer, or DeepSpeed's buffer."""
    return scenario.plan.framework in MEGATRON
