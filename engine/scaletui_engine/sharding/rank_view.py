"""What one rank holds of every parameter: rows that stand for all equal layers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.sharding.activations import stage_activations
from scaletui_engine.sharding.brief import brief
from scaletui_engine.sharding.distributed_optimizer import BufferRule, OptimizerBuffer, optimizer_buffer
from scaletui_engine.sharding.fsdp1 import FlatParameter, flat_parameter
from scaletui_engine.sharding.fused_names import fused_blocks
from scaletui_engine.sharding.intervals import size
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.tensor_map import Flat, TensorMap, is_megatron, tensor_map
from scaletui_engine.sharding.zero import ZeroBuffer, zero_buffer
from scaletui_engine.stages import rank_stages
from scaletui_engine.tensors import stage_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.model import Tensor
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.flat import FlatPart
    from scaletui_engine.sharding.intervals import Interval
    from scaletui_engine.sharding.layout import Region


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A rank's piece of one parameter, the same for every layer of `layers`."""

    tensor: Tensor
    layers: range | None
    region: Region
    """Indices along every dim of the stored tensor (experts first), before a flat cut."""
    run: Interval | None
    """Elements of that region in row-major order, where the cut is flat."""
    numel: int
    """Elements of one layer that the rank holds."""
    allocated: int
    """The same with padding."""

    @property
    def copies(self) -> int:
        """Layers the row stands for."""
        return 1 if self.layers is None else len(self.layers)


@dataclass(frozen=True, slots=True)
class RankView:
    """Everything one rank holds of one part."""

    rank: int
    stage_rank: int
    """Place on the pp axis."""
    part: Part
    rows: tuple[HeldRow, ...]
    padding: int = 0
    """Elements of flat buffers that belong to no row."""

    @property
    def numel(self) -> int:
        """Elements held, padding left out."""
        return sum(row.numel * row.copies for row in self.rows)

    @property
    def allocated(self) -> int:
        """Elements with padding."""
        return sum(row.allocated * row.copies for row in self.rows) + self.padding

    def expanded(self) -> Iterator[tuple[str, HeldRow]]:
        """(name, row) for every layer by itself."""
        for row in self.rows:
            for layer in row.layers or (None,):
                yield row.tensor.name.replace("{layer}", str(layer)), row


def rank_view(scenario: Scenario, rank: int, part: Part = Part.WEIGHTS) -> RankView:
    """The slices of one rank, ranks numbered in Megatron's order. Raises ValueRangeError."""
    world = scenario.plan.axes.world
    if not 0 <= rank < world:
        raise ValueRangeError(f"rank {brief(rank)} is not in 0 <= rank < world = {world}")
    stage_rank, inner = divmod(rank, world // scenario.plan.axes.pp)
    held = held_tensors(scenario, stage_rank, part)
    pairs = tuple((tensor, tensor_map(scenario, tensor, part)) for tensor in held)
    if part is Part.SECONDARY:
        # What stays whole has no second copy.
        pairs = tuple(pair for pair in pairs if pair[1].flat is not Flat.NONE)
    alone = (pair for pair in pairs if pair[1].flat in (Flat.NONE, Flat.PARAMETER))
    rows = [_row(tensor, found, inner) for tensor, found in alone]
    rows += _unit_rows(pairs, inner)
    buffers = tuple(_buffers(scenario, pairs, inner))
    rows += [row for buffer in buffers for row in buffer.rows(inner)]
    padding = sum(buffer.padding for buffer in buffers)
    return RankView(rank, stage_rank, part, tuple(rows), padding)


def held_tensors(scenario: Scenario, stage_rank: int, part: Part) -> tuple[Tensor, ...]:
    """What a pipeline rank has of a part, equal layers together."""
    if part is Part.ACTIVATIONS:
        return stage_activations(scenario, stage_rank)
    return stage_parameters(scenario, stage_rank)


@lru_cache(maxsize=1024)
def stage_parameters(scenario: Scenario, stage_rank: int) -> tuple[Tensor, ...]:
    """The parameters of a pipeline rank, equal layers together."""
    arch, plan = scenario.model.arch, scenario.plan
    return stage_tensors(arch, rank_stages(arch.layers, plan)[stage_rank])


def _row(tensor: Tensor, found: TensorMap, inner: int) -> HeldRow:
    region, run = found.layout.slices(inner), found.run(inner)
    numel = prod(size(along) for along in region) if run is None else run[1] - run[0]
    return HeldRow(tensor, tensor.layers, region, run, numel, found.allocated(inner))


UnitKind = tuple[tuple[int, ...], tuple[range | None, ...]]
"""(places of the tensors, the layers that have exactly those); None stands for outside the layers."""
Blocks = tuple[tuple[int, ...], ...]
"""Parameters that are parts of one, by their places."""
Pairs = tuple[tuple["Tensor", TensorMap], ...]
"""Parameters of a stage with their maps."""


def _unit_rows(pairs: Pairs, inner: int) -> Iterator[HeldRow]:
    """FSDP1: the parameters of one layer are one buffer, what lies outside the layers another.

    Experts that other ranks share than the dense parameters are a buffer of their own.
    """
    flat = tuple(pair for pair in pairs if pair[1].flat is Flat.UNIT)
    for chosen, layers in units_of(tuple(tensor for tensor, _ in flat)):
        group = [flat[index] for index in chosen]
        found = group[0][1]
        unit = _unit(tuple(each.whole_numel for _, each in group), found.degree)
        for part in unit.parts(found.place(inner)):
            tensor, held = group[part.param]
            for window in layers:
                yield _flat_row(replace(tensor, layers=window), held, part, inner)


@lru_cache(maxsize=256)
def units_of(held: tuple[Tensor, ...]) -> tuple[UnitKind, ...]:
    """Every kind of unit of a stage: what lies outside the layers, and equal layers together."""
    kinds: dict[tuple[int, ...], list[int | None]] = {}
    every = sorted({layer for tensor in held for layer in tensor.layers or ()})
    for layer in (None, *every):
        for expert in (False, True):
            members = tuple(
                index
                for index, tensor in enumerate(held)
                if tensor.is_expert is expert
                and (tensor.layers is None if layer is None else layer in (tensor.layers or ()))
            )
            if members:
                kinds.setdefault(members, []).append(layer)
    return tuple((members, _windows(layers)) for members, layers in kinds.items())


def _windows(layers: list[int | None]) -> tuple[range | None, ...]:
    """Layers as few ranges; None stands for no layer."""
    found: list[range | None] = []
    for layer in layers:
        last = found[-1] if found else None
        if layer is None:
            found.append(None)
        elif last is not None and (len(last) == 1 or layer == last[-1] + last.step):
            found[-1] = range(last[0], layer + 1, layer - last[-1])
        else:
            found.append(range(layer, layer + 1))
    return tuple(found)


@lru_cache(maxsize=256)
def _unit(numels: tuple[int, ...], degree: int) -> FlatParameter:
    return flat_parameter(numels, degree, 4)


def _flat_row(tensor: Tensor, found: TensorMap, part: FlatPart, inner: int) -> HeldRow:
    region = found.layout.slices(inner)
    return HeldRow(tensor, tensor.layers, region, part.intra, part.numel, part.numel)


@dataclass(frozen=True, slots=True)
class _Buffer:
    """The dense parameters of a stage in one buffer, or its experts, as one rank sees it."""

    pairs: Pairs
    order: tuple[tuple[int, int | None], ...]
    cut: OptimizerBuffer | ZeroBuffer
    place: int

    @property
    def padding(self) -> int:
        """Elements of the rank's piece that belong to no parameter."""
        return self.cut.partition - sum(part.numel for part in self.cut.parts(self.place))

    def rows(self, inner: int) -> Iterator[HeldRow]:
        for part in self.cut.parts(self.place):
            index, layer = self.order[part.param]
            row = _flat_row(*self.pairs[index], part, inner)
            yield replace(row, layers=None if layer is None else range(layer, layer + 1))


def _buffers(scenario: Scenario, pairs: Pairs, inner: int) -> Iterator[_Buffer]:
    """ZeRO-1/2 and Megatron: dense and expert parameters of the stage are a buffer each."""
    for expert in (False, True):
        flat = (pair for pair in pairs if pair[1].flat is Flat.BUFFER)
        chosen = tuple(pair for pair in flat if pair[0].is_expert is expert)
        if chosen:
            order = _module_order(tuple(tensor for tensor, _ in chosen))
            wholes = [found.whole(inner) for _, found in chosen]
            numels = tuple(wholes[index] for index, _ in order)
            first = chosen[0][1]
            blocks = _blocks(tuple(tensor for tensor, _ in chosen)) if is_megatron(scenario) else None
            yield _Buffer(chosen, order, _buffer(numels, first.degree, blocks), first.place(inner))


@lru_cache(maxsize=256)
def _module_order(held: tuple[Tensor, ...]) -> tuple[tuple[int, int | None], ...]:
    """(tensor, layer) as a module lists them: before the layers, layer by layer, behind them."""
    layered = [place for place, tensor in enumerate(held) if tensor.layers is not None]
    outside = [index for index in range(len(held)) if index not in layered]
    first = layered[0] if layered else len(held)
    layers = sorted({layer for index in layered for layer in held[index].layers or ()})
    inside = [(index, layer) for layer in layers for index in layered if layer in (held[index].layers or ())]
    before: list[tuple[int, int | None]] = [(index, None) for index in outside if index < first]
    return (*before, *inside, *((index, None) for index in outside if index > first))


@lru_cache(maxsize=256)
def _blocks(held: tuple[Tensor, ...]) -> Blocks:
    """Places in module order of the parameters that Megatron fuses."""
    order = _module_order(held)
    return fused_blocks([f"{layer} {held[index].name}" for index, layer in order])


@lru_cache(maxsize=64)
def _buffer(numels: tuple[int, ...], degree: int, blocks: Blocks | None) -> OptimizerBuffer | ZeroBuffer:
    """Megatron's where there are blocks, else DeepSpeed's."""
    if blocks is None:
        return zero_buffer(numels, degree)
    return optimizer_buffer(numels, BufferRule(degree), blocks)
