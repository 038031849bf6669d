"""From an element, or a tile, to the ranks that hold it: over pipeline stages, replicas and flat runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.sharding.layout import check_element
from scaletui_engine.sharding.names import Named
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.pipeline_place import layer_of, stages_of
from scaletui_engine.sharding.runs import flat_runs, place_of
from scaletui_engine.sharding.tensor_map import Flat, TensorMap, tensor_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.rankset import RankSet


@dataclass(frozen=True, slots=True)
class Holders:
    """The ranks that hold an element."""

    inner: RankSet
    """Counted from the first rank of a stage, before a flat cut."""
    stages: tuple[int, ...]
    """Pipeline ranks that have the parameter: two for a tied table."""
    stage_size: int
    lane: tuple[int, int, int] | None = None
    """(place, degree, stride) of the flat cut that holds the element."""

    def __iter__(self) -> Iterator[int]:
        """Ascending."""
        for stage in self.stages:
            for rank in self.inner:
                if self.lane is None or rank // self.lane[2] % self.lane[1] == self.lane[0]:
                    yield stage * self.stage_size + rank

    @property
    def count(self) -> int:
        """How many."""
        each = len(self.inner)
        if self.lane is not None:
            each = sum(1 for rank in self.inner if rank // self.lane[2] % self.lane[1] == self.lane[0])
        return each * len(self.stages)


def holders(scenario: Scenario, named: Named, element: tuple[int, ...], part: Part = Part.WEIGHTS) -> Holders:
    """Who holds an element of a tensor, of its first layer where none is named.

    Of an expert's the first index is the expert. Raises ValueRangeError for an index outside the shape.
    """
    named = Named(named.tensor, layer_of(named), named.expert)
    found = tensor_map(scenario, named.tensor, part)
    check_element(element, found.shape)
    inner = found.layout.holders(element)
    axes = scenario.plan.axes
    size = axes.world // axes.pp
    lane = _lane(scenario, named, (found, element), part)
    return Holders(inner, stages_of(scenario, named, part), size, lane)


def _lane(
    scenario: Scenario, named: Named, where: tuple[TensorMap, tuple[int, ...]], part: Part
) -> tuple[int, int, int] | None:
    found, element = where
    if found.flat is Flat.NONE or found.degree == 1:
        return None
    first = next(iter(found.layout.holders(element)))
    position = _position(found, element, first)
    if found.flat is Flat.PARAMETER:
        place = position // found.cut_of(first).allocated
    else:
        place = place_of(flat_runs(scenario, named, part, found.variant(first)), position)
    return place, found.degree, found.lane


def _position(found: TensorMap, element: tuple[int, ...], rank: int) -> int:
    """Row-major place of an element in the piece that TP and EP leave a rank."""
    position = 0
    for index, along in zip(element, found.layout.slices(rank), strict=True):
        before = sum(min(stop, index) - start for start, stop in along if start < index)
        position = position * sum(stop - start for start, stop in along) + before
    return position
