"""What one pipeline rank runs in a step, in the numbers that traffic is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.memory.load import Load, load_of
from scaletui_engine.plan import Recompute
from scaletui_engine.sharding.experts import apart
from scaletui_engine.sharding.flat_shares import units_of
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.rank_view import stage_parameters
from scaletui_engine.sharding.tensor_map import JOINT, tensor_map
from scaletui_engine.stages import rank_stages
from scaletui_engine.tensors.experts import expert_layers
from scaletui_engine.units import ceil_div, round_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.model import Tensor
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.tensor_map import TensorMap
    from scaletui_engine.stages import Stage


@dataclass(frozen=True, slots=True)
class Unit:
    """Parameters that are gathered and reduced together, on a rank after TP and EP."""

    count: int
    """Equal units: layers."""
    root: bool
    expert: bool
    """Whether it is experts that are a unit of their own."""
    numel: int
    """Elements of one, before the data-parallel cut."""
    padded: int
    """The same with FSDP2's padding: what a gather delivers."""
    shapes: tuple[int, ...]
    """Elements of every parameter."""
    last: int | None = None
    """Number of the last layer; None outside the layers."""


@dataclass(frozen=True, slots=True)
class Step:
    """One pipeline rank of a valid scenario."""

    scenario: Scenario
    load: Load
    stage_rank: int
    stages: tuple[Stage, ...]
    units: tuple[Unit, ...]

    @property
    def microbatches(self) -> int:
        """Microbatches of one data-parallel rank."""
        return max(self.scenario.plan.accumulation, 1)

    @property
    def layers(self) -> int:
        """Layers of the rank."""
        return sum(len(stage.layers) for stage in self.stages)

    @property
    def moe_layers(self) -> int:
        """Layers with experts."""
        arch = self.load.arch
        if arch.moe is None:
            return 0
        held = expert_layers(arch, arch.moe)
        return sum(1 for stage in self.stages for layer in stage.layers if layer in held)

    @property
    def embedding(self) -> bool:
        """Whether the rank holds the token table."""
        return any(stage.embedding for stage in self.stages)

    @property
    def head(self) -> bool:
        """Whether the rank computes the loss."""
        return any(stage.head for stage in self.stages)

    @property
    def stream(self) -> int:
        """Bytes of one residual stream tensor of a microbatch, the whole sequence of the rank's cp share."""
        return self.load.tokens * self.load.arch.hidden * self.load.item

    @property
    def recomputes(self) -> bool:
        """Whether the forward pass of the layers runs twice."""
        return self.scenario.plan.recompute is Recompute.FULL

    def numel(self, *, expert: bool) -> int:
        """Elements of the rank before the data-parallel cut."""
        return sum(unit.numel * unit.count for unit in self.units if unit.expert is expert)

    def sizes(self, *, expert: bool) -> Iterator[int]:
        """Elements of every parameter, in the order of the units."""
        return (n for unit in self.units if unit.expert is expert for n in unit.shapes * unit.count)


def step_of(scenario: Scenario, stage_rank: int) -> Step:
    """The step of one pipeline rank."""
    arch, plan = scenario.model.arch, scenario.plan
    stages = rank_stages(arch.layers, plan)[stage_rank]
    return Step(scenario, load_of(arch, plan), stage_rank, stages, _units(scenario, stage_rank))


@lru_cache(maxsize=256)
def _units(scenario: Scenario, stage_rank: int) -> tuple[Unit, ...]:
    held = stage_parameters(scenario, stage_rank)
    split = apart(load_of(scenario.model.arch, scenario.plan))
    return tuple(
        _unit(scenario, [held[place] for place in places], layers)
        for places, layers in units_of(held, split=split)
    )


def _unit(scenario: Scenario, members: list[Tensor], layers: tuple[range | None, ...]) -> Unit:
    root = layers[0] is None
    count = 1 if root else sum(len(window or ()) for window in layers)
    gathered = [_gathered(scenario, tensor) for tensor in members]
    return Unit(
        count,
        root,
        all(tensor.is_expert for tensor in members),
        sum(whole for whole, _ in gathered),
        sum(padded for _, padded in gathered),
        tuple(whole for whole, _ in gathered),
        max((window[-1] for window in layers if window), default=None),
    )


def _gathered(scenario: Scenario, tensor: Tensor) -> tuple[int, int]:
    """(elements after TP and EP, the same as the padded chunks of the data-parallel ranks add up)."""
    found = tensor_map(scenario, tensor, Part.WEIGHTS)
    if found.is_listed:
        return _fused(found, scenario.plan.axes.tp)
    model = {"tp", "tp_copy", "ep", "etp"}
    layout = found.layout
    data = [
        axis.size
        for axis, placement in zip(layout.mesh.axes, layout.placements, strict=True)
        if placement.cuts and axis.name not in model
    ]
    padded = prod(layout.padded_shape()) * prod(data)
    cuts = prod(
        axis.size
        for axis, placement in zip(layout.mesh.axes, layout.placements, strict=True)
        if placement.cuts and axis.name in model
    )
    return prod(found.shape) // cuts, padded


def _fused(found: TensorMap, tp: int) -> tuple[int, int]:
    """The same of wq, wk or wv in Megatron's fused rows, of which tp leaves ranks equally many in all."""
    rows, columns = found.shape[0], prod(found.shape[1:])
    mine = ceil_div(rows, tp) if ".wk" in found.tensor.name else rows // tp
    ranks = sum(axis.size for axis in found.layout.mesh.axes if axis.name == JOINT) or tp
    return mine * columns, round_up(mine, ranks // tp) * columns


def heaviest_stage(scenario: Scenario) -> int:
    """The pipeline rank with most parameters: a mean over stages would hide it."""
    plan = scenario.plan
    totals = [
        sum(tensor.total for tensor in stage_parameters(scenario, rank)) for rank in range(plan.axes.pp)
    ]
    return totals.index(max(totals))
