"""What a rank holds where parameters lie end to end: FSDP1's units, the buffers of ZeRO-1/2 and Megatron."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.memory.load import load_of
from scaletui_engine.plan import Strategy
from scaletui_engine.runtime import Framework
from scaletui_engine.sharding.distributed_optimizer import BufferRule, OptimizerBuffer, optimizer_buffer
from scaletui_engine.sharding.experts import apart
from scaletui_engine.sharding.fsdp1 import FlatParameter, flat_parameter
from scaletui_engine.sharding.fused_names import fused_blocks
from scaletui_engine.sharding.held_row import HeldRow
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.tensor_map import Flat, TensorMap, is_megatron, tensor_map
from scaletui_engine.sharding.zero import ZeroBuffer, zero_buffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.model import Tensor
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.flat import FlatPart

UnitKind = tuple[tuple[int, ...], tuple[range | None, ...]]
"""(places of the tensors, the layers that have exactly those); None stands for outside the layers."""
Blocks = tuple[tuple[int, ...], ...]
"""Parameters that are parts of one, by their places."""
Pairs = tuple[tuple["Tensor", TensorMap], ...]
"""Parameters of a stage with their maps."""


@dataclass(frozen=True, slots=True)
class FlatUnit:
    """FSDP1's flat parameter of equal layers, or of what lies outside them, as one rank sees it."""

    pairs: Pairs
    layers: tuple[range | None, ...]
    cut: FlatParameter
    place: int

    @property
    def padding(self) -> int:
        """Elements of the rank's shards that belong to no parameter, over all the layers."""
        held = sum(part.numel for part in self.cut.parts(self.place))
        return (self.cut.shard_numel - held) * sum(
            1 if window is None else len(window) for window in self.layers
        )

    def rows(self, inner: int) -> Iterator[HeldRow]:
        """What the rank holds of each parameter."""
        for part in self.cut.parts(self.place):
            tensor, held = self.pairs[part.param]
            for window in self.layers:
                yield _flat_row(replace(tensor, layers=window), held, part, inner)


def flat_units(scenario: Scenario, pairs: Pairs, inner: int) -> Iterator[FlatUnit]:
    """FSDP1: the parameters of one layer are one buffer, what lies outside the layers another.

    Experts that other ranks share than the dense parameters are a buffer of their own.
    """
    flat = tuple(pair for pair in pairs if pair[1].flat is Flat.UNIT)
    load = load_of(scenario.model.arch, scenario.plan)
    item = load.precision.weights
    for chosen, layers in units_of(tuple(tensor for tensor, _ in flat), split=apart(load)):
        group = tuple(flat[index] for index in chosen)
        found = group[0][1]
        cut = _unit(tuple(each.whole(inner) for _, each in group), found.degree, item)
        yield FlatUnit(group, layers, cut, found.place(inner))


@lru_cache(maxsize=256)
def units_of(held: tuple[Tensor, ...], *, split: bool) -> tuple[UnitKind, ...]:
    """Every kind of unit of a stage: what lies outside the layers, and equal layers together.

    `split` says whether the experts of a layer are a unit of their own (`experts.apart`).
    """
    kinds: dict[tuple[int, ...], list[int | None]] = {}
    every = sorted({layer for tensor in held for layer in tensor.layers or ()})
    for layer in (None, *every):
        own = [
            index
            for index, tensor in enumerate(held)
            if (tensor.layers is None if layer is None else layer in (tensor.layers or ()))
        ]
        parts = [[each for each in own if held[each].is_expert is expert] for expert in (False, True)]
        for members in parts if split else [own]:
            if members:
                kinds.setdefault(tuple(members), []).append(layer)
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
def _unit(numels: tuple[int, ...], degree: int, item: int) -> FlatParameter:
    return flat_parameter(numels, degree, item)


def _flat_row(tensor: Tensor, found: TensorMap, part: FlatPart, inner: int) -> HeldRow:
    region = found.layout.slices(inner)
    return HeldRow(tensor, tensor.layers, region, part.intra, part.numel, part.numel)


@dataclass(frozen=True, slots=True)
class FlatShare:
    """The dense parameters of a stage in one buffer, or its experts, as one rank sees it."""

    pairs: Pairs
    order: tuple[tuple[int, int | None], ...]
    cut: OptimizerBuffer | ZeroBuffer
    place: int

    @property
    def padding(self) -> int:
        """Elements of the rank's piece that belong to no parameter."""
        return self.cut.partition - sum(part.numel for part in self.cut.parts(self.place))

    @property
    def whole_padding(self) -> int:
        """The same of the whole buffer, in whose views weights lie on every rank."""
        return self.cut.partition * self.cut.dp - self.cut.buffer.numel

    def rows(self, inner: int) -> Iterator[HeldRow]:
        """What the rank holds of each parameter."""
        for part in self.cut.parts(self.place):
            index, layer = self.order[part.param]
            row = _flat_row(*self.pairs[index], part, inner)
            yield replace(row, layers=None if layer is None else range(layer, layer + 1))


def flat_shares(scenario: Scenario, pairs: Pairs, inner: int) -> Iterator[FlatShare]:
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
            yield FlatShare(chosen, order, _buffer(numels, first.degree, blocks), first.place(inner))


def buffer_padding(scenario: Scenario, held: tuple[Tensor, ...], part: Part, inner: int) -> int:
    """Elements that ZeRO-1/2's whole buffers hold beyond their parameters, on a rank with whole weights.

    DeepSpeed makes parameters views of the padded `bit16_groups_flat` (stage_1_and_2.py); Megatron makes
    them, and gradients that are not cut, views of `param_data` and `grad_data` (param_and_grad_buffer.py).
    """
    strategy, megatron = scenario.plan.strategy, is_megatron(scenario)
    kept = (Part.WEIGHTS, Part.GRADIENTS) if megatron and not strategy.shards_gradients else (Part.WEIGHTS,)
    if strategy not in (Strategy.ZERO1, Strategy.ZERO2) or part not in kept or not has_buffers(scenario):
        return 0
    pairs = tuple((tensor, tensor_map(scenario, tensor, Part.OPTIMIZER)) for tensor in held)
    return sum(share.whole_padding for share in flat_shares(scenario, pairs, inner))


def has_buffers(scenario: Scenario) -> bool:
    """Whether parameters lie in buffers: torch's ZeroRedundancyOptimizer deals whole ones out."""
    return is_megatron(scenario) or scenario.plan.framework is Framework.DEEPSPEED


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
