"""One parameter as tiles with their owners, and the tile of a rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from scaletui.state.sharding_bands import Band, BandAxis
from scaletui_engine.sharding.holders import Holders
from scaletui_engine.sharding.intervals import select
from scaletui_engine.sharding.names import Named
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.pipeline_place import layer_on, stages_of
from scaletui_engine.sharding.rankset import RankSet
from scaletui_engine.sharding.runs import Run, flat_runs
from scaletui_engine.sharding.tensor_map import Flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.sharding.intervals import Intervals
    from scaletui_engine.sharding.layout import Layout
    from scaletui_engine.sharding.parameter_view import ParameterView

MOST_LISTED: Final = 4096
"""Empty ranks that are looked for by number; more are counted as "at least"."""
Spot = tuple[int, int]
"""Row and column of a tile."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Tiles of two dims; the other dims at the place where the rank's piece starts."""

    view: ParameterView
    dims: tuple[int, ...]
    rows: tuple[Band, ...]
    columns: tuple[Band, ...]
    """One for a vector."""
    unit: int
    """Units of the row axis in one row."""
    others: RankSet
    """Who holds the place on the dims that are not drawn."""
    stages: tuple[int, ...] = ()
    """Pipeline stages whose ranks hold the same layers."""
    padding: int = 0
    """Units behind the last row that ranks allocate and nobody uses."""
    layout: Layout | None = None
    """What DTensor declares, where that is drawn; None for what ranks hold."""

    @property
    def is_dense(self) -> bool:
        """Whether a tile stands for several."""
        return any(band.last is not None for band in (*self.rows, *self.columns))

    @property
    def spots(self) -> tuple[Spot, ...]:
        """Every tile, row by row."""
        return tuple((row, column) for row in range(len(self.rows)) for column in range(len(self.columns)))

    def holders(self, spot: Spot, *, last: bool = False) -> Holders | None:
        """The ranks of a tile, numbered as Megatron does; of its first part where it stands for several."""
        row, column = self.rows[spot[0]], self.columns[spot[1]]
        if last:
            row, column = row.last or row, column.last or column
        both = row.ranks.both(column.ranks)
        inner = both.both(self.others) if both else None
        if inner is None:
            return None
        found = self.view.map
        lane = None if row.place is None else (row.place, found.degree, found.lane)
        return Holders(inner, self.stages, self.view.stage_size, lane)

    def spot(self, rank: int) -> Spot | None:
        """The tile in which a rank's piece starts; None where the rank holds nothing of what is drawn."""
        lines, columns = self._edges(rank)
        if not lines or not columns:
            return None
        return _place(self.rows, lines[0][0]), _place(self.columns, columns[0][0])

    def spots_of(self, rank: int) -> frozenset[Spot]:
        """Every tile that a part of a rank's piece lies in."""
        lines, columns = self._edges(rank)
        return frozenset(
            (row, column) for row in _touched(self.rows, lines) for column in _touched(self.columns, columns)
        )

    def _edges(self, rank: int) -> tuple[Intervals, Intervals]:
        """The rank's piece in units of rows and columns; nothing where it has none of what is drawn."""
        piece, inner = self.view.piece(rank), rank % self.view.stage_size
        if piece.numel == 0 or inner not in self.others:
            return (), ()
        region = piece.region if self.layout is None else self.layout.slices(inner)
        lines = tuple((start * self.unit, stop * self.unit) for start, stop in region[self.dims[0]])
        if piece.run and self.rows[0].place is not None:
            lines = select(lines, piece.run)
        return lines, region[self.dims[1]] if len(self.dims) > 1 else ((0, 1),)


def _place(bands: tuple[Band, ...], position: int) -> int:
    return next((index for index, band in enumerate(bands) if position < band.stop), len(bands) - 1)


def _touched(bands: tuple[Band, ...], edges: Intervals) -> list[int]:
    return [
        index
        for index, band in enumerate(bands)
        if any(start < band.stop and band.start < stop for start, stop in edges)
    ]


def runs_of(view: ParameterView, rank: int | None = None) -> tuple[Run, ...]:
    """Where elements are cut as one run: the runs of the first layer on the rank's stage."""
    stage = view.stages[0] if rank is None and view.stages else (rank or 0) // view.stage_size
    layer = layer_on(view.scenario, view.named, stage, view.part)
    variant = view.map.variant((rank or 0) % view.stage_size)
    return flat_runs(view.scenario, Named(view.named.tensor, layer), view.part, variant)


def is_flat(view: ParameterView) -> bool:
    """Whether a cut runs through the rows."""
    return view.map.flat is not Flat.NONE and view.map.degree > 1 and bool(view.stages)


def pairs_of(view: ParameterView) -> tuple[tuple[int, ...], ...]:
    """The dims that can be drawn against each other; a flat run starts along the first."""
    dims = len(view.map.shape)
    if dims < 2:
        return ((0,),)
    every = tuple(combinations(range(dims), 2))
    if view.part is Part.ACTIVATIONS:
        # The sequence and the features first: that is where TP, SP and CP cut.
        return every[::-1]
    return every if not is_flat(view) else tuple(pair for pair in every if pair[0] == 0)


@dataclass(frozen=True, slots=True)
class Pose:
    """From where a tensor is drawn."""

    pair: int
    """Which two dims."""
    rank: int
    """Whose place the other dims are drawn at."""
    declared: bool = False
    """As DTensor's placements declare it."""


def picture_of(view: ParameterView, pose: Pose, cells: tuple[int, int]) -> Picture:
    """The tensor on that many columns and lines of tiles."""
    found = view.map
    layout = found.declared if pose.declared else found.layout
    pairs, runs = pairs_of(view), runs_of(view, pose.rank)
    dims = pairs[pose.pair % len(pairs)]
    local = found.layout.padded_shape()
    unit = max(found.whole_numel // max(local[0], 1), 1) if is_flat(view) else 1
    bound = found.tensor.shape[0] if not found.tensor.is_expert and dims[0] == 0 else 0
    bound = bound if 0 < bound < found.shape[0] else 0
    columns, lines = cells
    rows = BandAxis(layout, dims[0], unit, runs, _unlike(view, pose.rank), bound)
    padding = _padding(view, dims[0])
    anywhere = RankSet(layout.mesh, (None,) * len(layout.mesh.axes))
    along = BandAxis(layout, dims[1]).bands(max(columns, 1)) if len(dims) > 1 else (Band(0, 1, anywhere),)
    others = _others(view, dims, pose.rank, anywhere)
    bands, stages = rows.bands(max(lines - (padding > 0), 1)), stages_with(view, pose.rank)
    drawn = layout if pose.declared else None
    return Picture(view, dims, bands, along, unit, others, stages, padding, drawn)


def _unlike(view: ParameterView, rank: int) -> tuple[tuple[Run, ...], ...]:
    """The runs of every place in TP on a rank's stage, where TP leaves unlike pieces."""
    if not (view.map.is_listed and is_flat(view)):
        return ()
    first = rank // view.stage_size * view.stage_size
    return tuple(runs_of(view, first + variant) for variant in range(view.map.lane))


def stages_with(view: ParameterView, rank: int) -> tuple[int, ...]:
    """Pipeline ranks that hold the same layer as a rank's, where a row stands for layers on many of them.

    Its own, and where two copies of the model run against each other (DualPipe) its mirror.
    """
    tensor, stage = view.named.tensor, rank // view.stage_size
    if view.named.layer is not None or tensor.layers is None or not view.stages:
        return view.stages
    layer = layer_on(view.scenario, view.named, stage, view.part)
    return stages_of(view.scenario, Named(tensor, layer), view.part)


def _others(view: ParameterView, dims: tuple[int, ...], rank: int, anywhere: RankSet) -> RankSet:
    held = view.piece(rank).region
    for dim in range(len(view.map.shape)):
        if dim not in dims:
            index = held[dim][0][0] if held[dim] else 0
            anywhere = anywhere.both(view.map.layout.owner(dim, index)) or anywhere
    return anywhere


def held_with(view: ParameterView, rank: int) -> Holders | None:
    """The ranks that hold the first element of a rank's piece, itself included; None where it has none."""
    piece, found = view.piece(rank), view.map
    if piece.numel == 0:
        return None
    inner = found.layout.holders(tuple(along[0][0] for along in piece.region))
    place = found.place(rank % view.stage_size)
    lane = (place, found.degree, found.lane) if is_flat(view) else None
    return Holders(inner, stages_with(view, rank), view.stage_size, lane)


def _padding(view: ParameterView, dim: int) -> int:
    """Rows that ranks allocate beyond the tensor's, where every piece is as long as the longest.

    None of rows at given places: a matrix is padded that they are a part of.
    """
    layout = view.map.layout
    if view.map.flat is not Flat.NONE or view.map.is_listed:
        return 0
    parts = 1
    for axis, placement in zip(layout.mesh.axes, layout.placements, strict=True):
        parts *= axis.size if placement.cuts and placement.dim == dim else 1
    return max(layout.padded_shape()[dim] * parts - layout.shape[dim], 0)


def empty_ranks(view: ParameterView, rank: int) -> tuple[int, ...]:
    """Ranks that hold none of the layer that is drawn for a rank, the first `MOST_LISTED` of them."""
    return _empty_on(view, stages_with(view, rank))


@lru_cache(maxsize=64)
def _empty_on(view: ParameterView, stages: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(islice((rank for stage in stages for rank in _empty(view, stage)), MOST_LISTED))


def _empty(view: ParameterView, stage: int) -> Iterator[int]:
    layout, found, first = view.map.layout, view.map, stage * view.stage_size
    pieces = _unlike(view, first) or (runs_of(view, first),)
    full = [{place for _, _, place in runs} for runs in pieces]
    flat = is_flat(view)
    if not (flat or found.is_listed) and layout.numel(layout.mesh.world - 1):
        return
    for inner in range(view.stage_size):
        if (found.place(inner) not in full[found.variant(inner)]) if flat else layout.is_empty(inner):
            yield first + inner
