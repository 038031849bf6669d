"""What one rank holds of every parameter: rows that stand for all equal layers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.sharding.activations import stage_activations
from scaletui_engine.sharding.brief import brief
from scaletui_engine.sharding.flat_shares import buffer_padding, flat_shares, flat_units
from scaletui_engine.sharding.held_row import HeldRow
from scaletui_engine.sharding.intervals import size
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.tensor_map import Flat, TensorMap, tensor_map
from scaletui_engine.stages import rank_stages
from scaletui_engine.tensors import stage_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.model import Tensor
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.flat_shares import FlatShare, FlatUnit


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
    flat: list[FlatUnit | FlatShare] = [*flat_units(scenario, pairs, inner)]
    flat += flat_shares(scenario, pairs, inner)
    rows += [row for each in flat for row in each.rows(inner)]
    padding = sum(each.padding for each in flat) + buffer_padding(scenario, held, part, inner)
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
