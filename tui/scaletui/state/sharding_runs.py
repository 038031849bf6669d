"""Where the flat runs of ranks cut a parameter."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final

from scaletui_engine.sharding.rank_view import rank_view, stage_parameters
from scaletui_engine.sharding.tensor_map import Flat

if TYPE_CHECKING:
    from scaletui_engine.sharding.parameter_view import ParameterView

FEW: Final = 32
"""Places that are simply asked one by one."""
Run = tuple[int, int, int]
"""(first element, one past the last, place on the axis that cuts elements)."""
Key = tuple[float, int]
"""Place of a parameter in a buffer: layer, then place among the layer's parameters."""


@lru_cache(maxsize=64)
def runs_of(view: ParameterView) -> tuple[Run, ...]:
    """The flat runs of a parameter in one piece that TP and EP leave, ascending; none where dims are cut."""
    found = view.map
    if found.flat is Flat.NONE or found.degree == 1 or not view.stages:
        return ()
    if found.flat is not Flat.PARAMETER and found.degree > FEW:
        runs = _searched(view)
        if sum(stop - start for start, stop, _ in runs) == found.whole_numel:
            return runs
    return tuple(sorted(run for place in range(found.degree) if (run := _run(view, place)) is not None))


def _run(view: ParameterView, place: int) -> Run | None:
    run = view.piece(_rank(view, place)).run
    return None if run is None or run[0] == run[1] else (run[0], run[1], place)


def _rank(view: ParameterView, place: int) -> int:
    return view.stages[0] * view.stage_size + place * view.map.lane


def _searched(view: ParameterView) -> tuple[Run, ...]:
    """A buffer is cut into equal runs, so the first two of a parameter's runs tell the others."""
    degree, target = view.map.degree, _target(view)
    rising = _keys(view, 0)[:1] <= _keys(view, degree // 2)[:1]
    low, high = 0, degree - 1
    while low < high:
        middle = (low + high) // 2
        keys = _keys(view, middle)
        reached = not keys or (keys[-1] >= target if rising else keys[-1] <= target)
        low, high = (low, middle) if reached else (middle + 1, high)
    runs = [run for place in (low, low + 1) if place < degree and (run := _run(view, place)) is not None]
    return tuple(_continued(runs, view.map.whole_numel))


def _continued(runs: list[Run], numel: int) -> list[Run]:
    while len(runs) > 1 and runs[-1][1] < numel:
        start, length = runs[-1][1], runs[1][1] - runs[1][0]
        runs.append((start, min(start + length, numel), runs[-1][2] + 1))
    return runs


def _target(view: ParameterView) -> Key:
    return _key(view, view.named.tensor.name, _layer(view))


def _layer(view: ParameterView) -> int | None:
    """The layer that stands for all where none is chosen, as in a rank's piece."""
    layers = view.named.tensor.layers
    return view.named.layer if view.named.layer is not None or layers is None else layers[0]


def _key(view: ParameterView, name: str, layer: int | None) -> Key:
    held = stage_parameters(view.scenario, view.stages[0])
    place = next(index for index, tensor in enumerate(held) if tensor.name == name)
    first = next((index for index, tensor in enumerate(held) if tensor.layers is not None), len(held))
    outside = -inf if place < first else inf
    return (outside if layer is None else layer, place)


def _keys(view: ParameterView, place: int) -> list[Key]:
    """The parameters of one place's run, in the buffer's order."""
    unit, layer, keys = view.map.flat is Flat.UNIT, _layer(view), []
    for row in rank_view(view.scenario, _rank(view, place), view.part).rows:
        if row.run is None or row.tensor.is_expert is not view.named.tensor.is_expert:
            continue
        own = row.layers[0] if row.layers else None
        if unit and (row.layers is None if layer is not None else row.layers is not None):
            continue
        if not unit or layer is None or layer in (row.layers or ()):
            keys.append(_key(view, row.tensor.name, layer if unit else own))
    return keys
