"""Where the flat runs of ranks cut a parameter: found from a few places, also where there are thousands."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.load import load_of
from scaletui_engine.sharding.experts import apart
from scaletui_engine.sharding.fused_names import fused_blocks
from scaletui_engine.sharding.names import Named
from scaletui_engine.sharding.pipeline_place import held_row, layer_of, stages_of
from scaletui_engine.sharding.rank_view import rank_view, stage_parameters
from scaletui_engine.sharding.tensor_map import Flat, is_megatron, tensor_map

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.part import Part
    from scaletui_engine.sharding.tensor_map import TensorMap

FEW: Final = 32
"""Places that are simply asked one by one."""
Run = tuple[int, int, int]
"""(first element, one past the last, place on the axis that cuts elements)."""
Key = tuple[float, int, int]
"""Place of a parameter in a buffer: layer, place of its block among the layer's, place within the block.

The last is negative in Megatron's buffers: they go from the last block to the first, each forwards.
"""


def flat_runs(scenario: Scenario, named: Named, part: Part, variant: int = 0) -> tuple[Run, ...]:
    """The flat runs of a parameter in one piece that TP and EP leave, ascending; none where dims are cut.

    Of the first layer where none is named; `variant` is the place in TP where its pieces are unlike.
    """
    return _runs(scenario, Named(named.tensor, layer_of(named)), part, variant)


def place_of(runs: tuple[Run, ...], position: int) -> int:
    """The place whose run holds an element."""
    return runs[bisect_right(runs, position, key=lambda run: run[0]) - 1][2]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One parameter in the buffers of one stage."""

    scenario: Scenario
    named: Named
    part: Part
    map: TensorMap
    first: int
    """First rank of the stage that has the piece."""
    stage: int
    numel: int
    """Elements of the piece."""

    def rank(self, place: int) -> int:
        """The lowest rank at a place of the cut."""
        return self.first + place * self.map.lane

    def run(self, place: int) -> Run | None:
        """What a place holds."""
        row = held_row(self.scenario, self.named, self.rank(place), self.part)
        run = None if row is None else row.run
        return None if run is None or run[0] == run[1] else (*run, place)


@lru_cache(maxsize=256)
def _runs(scenario: Scenario, named: Named, part: Part, variant: int) -> tuple[Run, ...]:
    found, stages = tensor_map(scenario, named.tensor, part), stages_of(scenario, named, part)
    if found.flat is Flat.NONE or found.degree == 1 or not stages:
        return ()
    places = range(found.degree)
    if found.flat is Flat.PARAMETER:
        cut = found.cut_of(variant)
        cuts = ((*cut.range(place), place) for place in places)
        return tuple(run for run in cuts if run[0] < run[1])
    first = stages[0] * (scenario.plan.axes.world // scenario.plan.axes.pp) + variant
    asked = _Asked(scenario, named, part, found, first, stages[0], found.whole(variant))
    if found.degree > FEW:
        runs = _searched(asked)
        if sum(stop - start for start, stop, _ in runs) == asked.numel:
            return runs
    return tuple(sorted(run for place in places if (run := asked.run(place)) is not None))


def _searched(asked: _Asked) -> tuple[Run, ...]:
    """A buffer is cut into equal runs, so the first two of a parameter's runs tell the others."""
    degree = asked.map.degree
    target = _key(asked, asked.named.tensor.name, asked.named.layer)
    rising = asked.map.flat is Flat.UNIT or not is_megatron(asked.scenario)
    low, high = 0, degree - 1
    while low < high:
        middle = (low + high) // 2
        keys = _keys(asked, middle)
        reached = not keys or (keys[-1] >= target if rising else keys[-1] <= target)
        low, high = (low, middle) if reached else (middle + 1, high)
    runs = [run for place in (low, low + 1) if place < degree and (run := asked.run(place)) is not None]
    return tuple(_continued(runs, asked.numel))


def _continued(runs: list[Run], numel: int) -> list[Run]:
    while len(runs) > 1 and runs[-1][1] < numel:
        start, length = runs[-1][1], runs[1][1] - runs[1][0]
        runs.append((start, min(start + length, numel), runs[-1][2] + 1))
    return runs


def _key(asked: _Asked, name: str, layer: int | None) -> Key:
    held = stage_parameters(asked.scenario, asked.stage)
    place = next(index for index, tensor in enumerate(held) if tensor.name == name)
    block, inside = place, 0
    if asked.map.flat is Flat.BUFFER and is_megatron(asked.scenario):
        fused = fused_blocks([tensor.name for tensor in held])
        block, inside = next((own[0], -own.index(place)) for own in fused if place in own)
    first = next((index for index, tensor in enumerate(held) if tensor.layers is not None), len(held))
    outside = -inf if place < first else inf
    return (outside if layer is None else layer, block, inside)


def _keys(asked: _Asked, place: int) -> list[Key]:
    """The parameters of one place's run, in the buffer's order."""
    unit, layer = asked.map.flat is Flat.UNIT, asked.named.layer
    joined = unit and not apart(load_of(asked.scenario.model.arch, asked.scenario.plan))
    keys: list[Key] = []
    for row in rank_view(asked.scenario, asked.rank(place), asked.part).rows:
        if row.run is None or not (joined or row.tensor.is_expert is asked.named.tensor.is_expert):
            continue
        own = row.layers[0] if row.layers else None
        if unit and (row.layers is None if layer is not None else row.layers is not None):
            continue
        if not unit or layer is None or layer in (row.layers or ()):
            keys.append(_key(asked, row.tensor.name, layer if unit else own))
    return keys
