"""A tensor on a mesh: which slice each rank holds, and which ranks hold an element.

Placements apply left to right over the mesh axes, as in DTensor: an axis further right cuts the local piece
that the axes before it left (torch 2.13, `_compute_local_shape_and_global_offset`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ScenarioError, ValueRangeError
from scaletui_engine.sharding.brief import brief
from scaletui_engine.sharding.intervals import Intervals, around, select_all, size, span
from scaletui_engine.sharding.placement import Kind, Placement
from scaletui_engine.sharding.rankset import RankSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.sharding.chunk import Cut
    from scaletui_engine.sharding.intervals import Interval
    from scaletui_engine.sharding.mesh import Axis, Mesh

Region = tuple[Intervals, ...]
"""One set of indices a dim; a rank holds their product."""
MAX_ELEMENTS: Final = 10**12
"""A shape of so many elements is taken for a slip of the hand."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of one dim that has one owner along it."""

    interval: Interval
    ranks: RankSet


@dataclass(frozen=True, slots=True)
class Layout:
    """The answers of a placement; nothing is stored for a rank or an element."""

    shape: tuple[int, ...]
    mesh: Mesh
    placements: tuple[Placement, ...]
    order: tuple[int, ...] = ()
    """Axes in the order in which they cut; left to right where it is empty."""

    def slices(self, rank: int) -> Region:
        """The indices that a rank holds along every dim."""
        coordinate = self.mesh.coordinate(rank)
        return tuple(self._along(dim, coordinate) for dim in range(len(self.shape)))

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """Shape of a rank's piece, padding left out."""
        return tuple(size(along) for along in self.slices(rank))

    def offset(self, rank: int) -> tuple[int, ...]:
        """First index along every dim; the dim's length where the piece is empty."""
        return tuple(
            along[0][0] if along else length
            for along, length in zip(self.slices(rank), self.shape, strict=True)
        )

    def numel(self, rank: int) -> int:
        """Elements that a rank holds."""
        return prod(self.local_shape(rank))

    def padded_shape(self) -> tuple[int, ...]:
        """Shape of the largest piece, which every rank allocates where shards are padded."""
        return tuple(self._padded(dim, length) for dim, length in enumerate(self.shape))

    @property
    def replicas(self) -> int:
        """Ranks that hold the same values of an element."""
        return prod(self.mesh.shape[place] for place in self._places(Kind.REPLICATE))

    @property
    def partials(self) -> int:
        """Ranks whose values must be summed for an element to exist."""
        return prod(self.mesh.shape[place] for place in self._places(Kind.PARTIAL))

    def holders(self, element: tuple[int, ...]) -> RankSet:
        """The ranks that hold an element. Raises ValueRangeError."""
        check_element(element, self.shape)
        found = RankSet(self.mesh, (None,) * len(self.mesh.axes))
        for dim, index in enumerate(element):
            both = found.both(self.owner(dim, index))
            assert both is not None
            found = both
        return found

    def owner(self, dim: int, index: int) -> RankSet:
        """The ranks that hold one index of a dim."""
        fixed: list[int | None] = [None] * len(self.mesh.axes)
        length, position = self.shape[dim], index
        for place, split in self._cuts(dim):
            part, position = split.owner(length, position)
            length = split.length(length, part)
            fixed[place] = part
        return RankSet(self.mesh, tuple(fixed))

    def segment(self, dim: int, index: int) -> Segment:
        """The run around an index: what a picture draws as one tile along that dim."""
        ranks = self.owner(dim, index)
        coordinate = tuple(place or 0 for place in ranks.fixed)
        interval = around(self._along(dim, coordinate), index)
        assert interval is not None
        return Segment(interval, ranks)

    def segments(self, dim: int) -> Iterator[Segment]:
        """The runs of a dim from its start to its end; empty ranks have none."""
        index = 0
        while index < self.shape[dim]:
            found = self.segment(dim, index)
            yield found
            index = found.interval[1]

    def cutting(self, dim: int) -> tuple[int, ...]:
        """Mesh axes that cut a dim, in the order in which they do."""
        return tuple(place for place, _ in self._cuts(dim))

    def along(self, dim: int, coordinate: tuple[int, ...]) -> Intervals:
        """The indices of one dim that a coordinate holds."""
        return self._along(dim, coordinate)

    def empty(self) -> Iterator[int]:
        """The ranks that hold nothing, ascending."""
        return (rank for rank in range(self.mesh.world) if self.is_empty(rank))

    def is_empty(self, rank: int) -> bool:
        """The same as `numel(rank) == 0`, without the intervals."""
        lengths, coordinate = list(self.shape), self.mesh.coordinate(rank)
        for dim, length in enumerate(self.shape):
            for place, split in self._cuts(dim):
                lengths[dim] = length = split.length(length, coordinate[place])
        return 0 in lengths

    def _along(self, dim: int, coordinate: tuple[int, ...]) -> Intervals:
        held = span(0, self.shape[dim])
        for place, split in self._cuts(dim):
            held = select_all(held, split.take(size(held), coordinate[place]))
        return held

    def _padded(self, dim: int, length: int) -> int:
        for place, split in self._cuts(dim):
            # torch.chunk's first part is the longest.
            is_first = self.placements[place].kind in (Kind.SHARD, Kind.STRIDED)
            parts = range(1 if is_first else self.mesh.shape[place])
            length = max(split.length(length, part) for part in parts)
        return length

    def _cuts(self, dim: int) -> Iterator[tuple[int, Cut]]:
        for place in self.order or range(len(self.placements)):
            placement = self.placements[place]
            if placement.cuts and placement.dim == dim:
                yield place, placement.cut(self.mesh.shape[place])

    def _places(self, kind: Kind) -> Iterator[int]:
        return (place for place, placement in enumerate(self.placements) if placement.kind is kind)


def checked_layout(layout: Layout) -> Layout:
    """The layout itself. Raises ScenarioError for the shape, or unless there is a placement an axis."""
    check_shape(layout.shape)
    axes, placements = len(layout.mesh.axes), len(layout.placements)
    if axes != placements:
        raise ScenarioError(
            f"{placements} placements for {axes} mesh axes ({', '.join(layout.mesh.names)}): one an axis"
        )
    for axis, placement in zip(layout.mesh.axes, layout.placements, strict=True):
        if placement.kind is Kind.LISTED:
            _check_lengths(layout, axis, placement)
    return layout


def _check_lengths(layout: Layout, axis: Axis, placement: Placement) -> None:
    """Raises ScenarioError unless given lengths are one a rank, alone on their dim, and add up to it."""
    dim, given = placement.dim, len(placement.held)
    total = sum(map(size, placement.held))
    if given != axis.size:
        raise ScenarioError(f"{given} lengths for the {axis.size} ranks of {axis.name}: one a rank")
    if total != layout.shape[dim]:
        raise ScenarioError(f"lengths of dim {dim} add up to {total}, but it has {layout.shape[dim]}")
    if sum(other.cuts and other.dim == dim for other in layout.placements) > 1:
        raise ScenarioError(f"dim {dim} has given lengths, so no other axis can cut it")


def check_shape(shape: tuple[int, ...]) -> None:
    """Raises ValueRangeError for a shape without elements, or with 10^12 and more."""
    product, elements = brief(" x ".join(map(str, shape)) or "1"), prod(shape)
    if elements < 1 or min(shape, default=1) < 1:
        raise ValueRangeError(f"shape {product} = {brief(elements)} elements: there is nothing to shard")
    if elements >= MAX_ELEMENTS:
        many = brief(elements)
        raise ValueRangeError(f"shape {product} = {many} elements, which is not below {MAX_ELEMENTS}")


def check_element(element: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Raises ValueRangeError for an index outside the shape."""
    if len(element) != len(shape):
        given, dims = brief(element), len(shape)
        raise ValueRangeError(f"element {given} has {len(element)} indices, the shape {dims} dims")
    for dim, (index, length) in enumerate(zip(element, shape, strict=True)):
        if not 0 <= index < length:
            raise ValueRangeError(f"index {brief(index)} of dim {dim} is not in 0 <= index < {length}")
