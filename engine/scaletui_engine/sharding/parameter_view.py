"""One parameter of a scenario: every rank's piece of it, with bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.errors import ScenarioError, ValueRangeError
from scaletui_engine.memory.load import load_of
from scaletui_engine.sharding.activations import listed
from scaletui_engine.sharding.brief import brief
from scaletui_engine.sharding.names import Named, named_in, shown
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.pipeline_place import held_row, stages_of
from scaletui_engine.sharding.tensor_map import Flat, TensorMap, tensor_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.intervals import Interval
    from scaletui_engine.sharding.layout import Region


@dataclass(frozen=True, slots=True)
class Piece:
    """What one rank holds of one layer of the parameter."""

    rank: int
    region: Region
    run: Interval | None
    numel: int
    allocated: int


@dataclass(frozen=True, slots=True)
class ParameterView:
    """The parameter on all its ranks."""

    scenario: Scenario
    named: Named
    part: Part
    map: TensorMap
    stages: tuple[int, ...]
    item: int
    """Bytes an element of that part."""

    @property
    def name(self) -> str:
        """The name a person reads."""
        return shown(self.named)

    @property
    def stage_size(self) -> int:
        """Ranks of one pipeline stage."""
        return self.scenario.plan.axes.world // self.scenario.plan.axes.pp

    def ranks(self) -> Iterator[int]:
        """Every rank of the stages that have the parameter."""
        for stage in self.stages:
            yield from range(stage * self.stage_size, (stage + 1) * self.stage_size)

    def checked(self, rank: int) -> int:
        """The rank itself. Raises ValueRangeError outside the world."""
        world = self.scenario.plan.axes.world
        if not 0 <= rank < world:
            raise ValueRangeError(f"rank {brief(rank)} is not in 0 <= rank < world = {world}")
        return rank

    def piece(self, rank: int) -> Piece:
        """What a rank holds; nothing where its stage lacks the parameter."""
        stage, inner = divmod(rank, self.stage_size)
        empty = ((),) * len(self.map.shape)
        if stage not in self.stages:
            return Piece(rank, empty, None, 0, 0)
        if self.map.flat in (Flat.NONE, Flat.PARAMETER):
            region, run = self.map.layout.slices(inner), self.map.run(inner)
            numel = self.map.layout.numel(inner) if run is None else run[1] - run[0]
            return Piece(rank, region, run, numel, self.map.allocated(inner))
        row = held_row(self.scenario, self.named, rank, self.part)
        if row is None:
            return Piece(rank, empty, None, 0, 0)
        return Piece(rank, row.region, row.run, row.numel, row.allocated)

    def agrees(self, rank: int) -> bool:
        """Whether DTensor's placements describe what the rank holds."""
        inner = rank % self.stage_size
        return self.map.layout.slices(inner) == self.map.declared.slices(inner)


def parameter_view(scenario: Scenario, name: str, part: Part = Part.WEIGHTS) -> ParameterView:
    """The view of a parameter, or an activation, by name.

    Raises UnknownNameError and ValueRangeError as `parameter` does, and ScenarioError for a second copy that
    the plan has not.
    """
    kind = "activation" if part is Part.ACTIVATIONS else "parameter"
    if part is Part.SECONDARY and scenario.plan.runtime.zero_hpz == 1:
        raise ScenarioError("zero_hpz = 1: there is no second copy of the weights", "zero_hpz 8")
    named = named_in(listed(scenario, part), name, kind)
    found = tensor_map(scenario, named.tensor, part)
    return ParameterView(
        scenario, named, part, found, stages_of(scenario, named, part), _item(scenario, part)
    )


def _item(scenario: Scenario, part: Part) -> int:
    """Bytes an element."""
    load = load_of(scenario.model.arch, scenario.plan)
    recipe = load.precision
    return {
        Part.WEIGHTS: recipe.weights,
        Part.GRADIENTS: recipe.gradients,
        Part.OPTIMIZER: recipe.master + sum(recipe.moments),
        Part.ACTIVATIONS: load.item,
        Part.UNREDUCED: recipe.compute,
        Part.SECONDARY: recipe.weights,
    }[part]
