"""The parameter drawn to scale: a tile for each owner, padding hatched, what the rank holds lit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.sharding_picture import picture_of
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.cells import width_of
from scaletui.view.grid import Grid, Tile, grid_rows
from scaletui.view.rule import heading, rule_row

if TYPE_CHECKING:
    from scaletui.state.sharding_picture import Picture, Spot
    from scaletui.state.sharding_sight import Sight
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

FRAME: Final = 4
"""Title, heads of the columns, and the two edges."""
LEAST_TILE: Final = 6
"""Cells of the narrowest tile whose rank can be read."""


def tile_room(box: Box) -> tuple[int, int]:
    """Tiles that a box has room for: across, down."""
    return max((box.width - 10) // LEAST_TILE, 1), max(box.height - FRAME, 1)


def picture_in(sight: Sight, box: Box) -> Picture:
    """The parameter with as many tiles as the box can show."""
    return picture_of(sight.view, sight.look.pair, sight.rank, tile_room(box))


def tensor_rows(sight: Sight, box: Box, pen: Pen, *, focus: bool) -> tuple[Row, ...]:
    """A title that says which dims go down and across, and the grid."""
    picture = picture_in(sight, box)
    chosen = picture.spot(sight.rank)
    title = rule_row(heading(_title(picture, pen), focus=focus), box.width, pen)
    tiles = [
        tuple(_tile(sight, picture, (row, column), chosen, pen) for column in range(len(picture.columns)))
        for row in range(len(picture.rows))
    ]
    heights = [band.stop - band.start for band in picture.rows]
    heads = [str(band.start // picture.unit) for band in picture.rows]
    if picture.padding:
        tiles.append(tuple(Tile(tr("padding"), "padding") for _ in picture.columns))
        heights.append(picture.padding)
        heads.append(str(picture.rows[-1].stop // picture.unit))
    grid = Grid(
        tuple(tiles), tuple(heights), tuple(band.stop - band.start for band in picture.columns),
        tuple(heads), _column_heads(picture),
    )  # fmt: skip
    return (title, *grid_rows(grid, Box(box.width, box.height - 1), pen))


def _column_heads(picture: Picture) -> tuple[str, ...]:
    """Where each column starts; every other one where columns are narrow."""
    step = 1 if len(picture.columns) < 4 else 2
    return tuple(str(band.start) if not at % step else "" for at, band in enumerate(picture.columns))


def _title(picture: Picture, pen: Pen) -> str:
    if len(picture.dims) < 2:
        drawn = tr("dim {dim}", dim=picture.dims[0])
    else:
        drawn = tr("dims {dims}", dims=f" {pen.glyphs.times} ".join(map(str, picture.dims)))
    return f"{drawn}; {tr('tiles are ranges')}" if picture.is_dense else drawn


def _tile(sight: Sight, picture: Picture, spot: Spot, chosen: Spot | None, pen: Pen) -> Tile:
    band = picture.rows[spot[0]]
    odd = (spot[0] + spot[1]) % 2
    role = "padding" if band.is_padding else "tile_odd" if odd else "tile"
    return Tile(owner_text(sight, picture, spot, pen), role, spot == chosen)


def owner_text(sight: Sight, picture: Picture, spot: Spot, pen: Pen) -> str:
    """The lowest rank and how many hold the same: "r0 ×4"; first and last where a tile is several."""
    held = picture.holders(spot)
    first = sight.first(held)
    if held is None or first is None:
        return ""
    if picture.rows[spot[0]].last is not None or picture.columns[spot[1]].last is not None:
        last = sight.first(picture.holders(spot, last=True))
        if last is not None and last != first:
            return f"r{first}{pen.glyphs.ellipsis}r{last}"
    copies = f" {pen.glyphs.times}{held.count}" if held.count > 1 else ""
    text = f"r{first}{copies}"
    return text if width_of(text) < LEAST_TILE or len(picture.columns) < 3 else f"r{first}"
