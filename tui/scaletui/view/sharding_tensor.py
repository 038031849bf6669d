"""The tensor drawn to scale: a tile for each owner, padding hatched, what the rank holds lit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.sharding_picture import Pose, picture_of
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.cells import width_of
from scaletui.view.grid import Grid, Tile, grid_rows, tile_at
from scaletui.view.rule import heading, rule_row
from scaletui.view.sharding_owner import Drawing, owner_text
from scaletui.view.sharding_parts import part_text

if TYPE_CHECKING:
    from scaletui.state.sharding_picture import Picture, Spot
    from scaletui.state.sharding_sight import Sight
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

FRAME: Final = 4
"""Title, heads of the columns, and the two edges."""
LEAST_TILE: Final = 6
"""Cells of the narrowest tile whose rank can be read."""
MARGIN: Final = 9
"""Cells beside the tiles, heads of six figures included."""
RULE: Final = 4
"""Cells of the line around a title."""
TEXTURE: Final = 3
"""Cells from one mark of a sum to the next."""


def tile_room(box: Box) -> tuple[int, int]:
    """Tiles that a box has room for: across, down."""
    return max((box.width - 10) // LEAST_TILE, 1), max(box.height - FRAME, 1)


def picture_in(sight: Sight, box: Box) -> Picture:
    """The tensor with as many tiles as the box can show."""
    pose = Pose(sight.look.pair, sight.rank, sight.look.declared)
    return picture_of(sight.view, pose, tile_room(box))


def tensor_rows(sight: Sight, box: Box, pen: Pen, *, focus: bool) -> tuple[Row, ...]:
    """A title that says which dims go down and across, and the grid."""
    picture = picture_in(sight, box)
    title = rule_row(heading(_title(sight, picture, box, pen), focus=focus), box.width, pen)
    return (title, *grid_rows(_grid(sight, picture, box, pen), _below(box), pen))


def spot_at(sight: Sight, box: Box, where: tuple[int, int], pen: Pen) -> Spot | None:
    """The tile under a cell of the pane; None for its edges, and for padding."""
    picture = picture_in(sight, box)
    found = tile_at(_grid(sight, picture, box, pen), _below(box), where[0], where[1] - 1)
    return found if found in picture.spots else None


def _below(box: Box) -> Box:
    """The room under the title."""
    return Box(box.width, box.height - 1)


def _grid(sight: Sight, picture: Picture, box: Box, pen: Pen) -> Grid:
    room = (box.width - MARGIN) // max(len(picture.columns), 1) - 2
    drawing = Drawing(sight, picture, room, pen)
    lit, chosen = picture.spots_of(sight.rank), picture.spot(sight.rank)
    tiles = [
        tuple(_tile(drawing, (row, column), chosen, lit) for column in range(len(picture.columns)))
        for row in range(len(picture.rows))
    ]
    heights = [band.stop - band.start for band in picture.rows]
    heads = [str(band.start // picture.unit) for band in picture.rows]
    if picture.padding:
        tiles.append(tuple(Tile(tr("padding"), "padding") for _ in picture.columns))
        heights.append(picture.padding)
        heads.append(str(picture.rows[-1].stop // picture.unit))
    return Grid(
        tuple(tiles), tuple(heights), tuple(band.stop - band.start for band in picture.columns),
        tuple(heads), _column_heads(picture),
    )  # fmt: skip


def _tile(drawing: Drawing, spot: Spot, chosen: Spot | None, lit: frozenset[Spot]) -> Tile:
    """One tile; where its values are the terms of a sum it is strewn with the mark of a sum."""
    odd = (spot[0] + spot[1]) % 2
    role = "padding" if drawing.picture.rows[spot[0]].is_padding else "tile_odd" if odd else "tile"
    texture = drawing.pen.glyphs.partial + " " * (TEXTURE - 1) if drawing.is_sum else " "
    return Tile(owner_text(drawing, spot), role, spot == chosen, spot in lit, texture)


def _column_heads(picture: Picture) -> tuple[str, ...]:
    """Where each column starts; every other one where columns are narrow."""
    step = 1 if len(picture.columns) < 4 else 2
    return tuple(str(band.start) if not at % step else "" for at, band in enumerate(picture.columns))


def _title(sight: Sight, picture: Picture, box: Box, pen: Pen) -> str:
    """What is drawn; the words that matter least are left out where they do not fit."""
    if len(picture.dims) < 2:
        drawn = tr("dim {dim}", dim=picture.dims[0])
    else:
        drawn = tr("dims {dims}", dims=f" {pen.glyphs.times} ".join(map(str, picture.dims)))
    words = [part_text(sight.look.part)]
    words += [tr("as torch declares it"), drawn] if sight.look.declared else [drawn]
    words += [tr("tiles are ranges")] if picture.is_dense else []
    while len(words) > 1 and width_of("; ".join(words)) > box.width - RULE:
        words.pop()
    return "; ".join(words)
