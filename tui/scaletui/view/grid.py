"""A tensor cut into tiles: a box drawn to scale, ranges of its rows at the left, of its columns above.

       0        2048
     ┌──────────────────┐
   0 │ r0       r1      │
1792 │ r2       r3      │
     └──────────────────┘
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui.view.cells import crop, left, right, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.share import share
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.box import Box
    from scaletui.view.pen import Pen


@dataclass(frozen=True, slots=True)
class Tile:
    """What one part of the tensor shows."""

    text: str
    role: str = "tile"
    """"tile" or "tile_odd" (neighbours alternate), or "padding", which is hatched."""
    is_chosen: bool = False
    is_lit: bool = False
    """Belongs to what is chosen, but is not where it begins."""
    texture: str = " "
    """What fills it behind the text, over and over."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Tiles by row of tiles, with the sizes they stand for."""

    tiles: tuple[tuple[Tile, ...], ...]
    heights: tuple[int, ...]
    """Elements of dim 0 of each row of tiles."""
    widths: tuple[int, ...]
    """Elements of dim 1 of each column of tiles."""
    row_heads: tuple[str, ...]
    column_heads: tuple[str, ...]


def grid_rows(grid: Grid, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The grid in exactly `box.width` cells and at most `box.height` lines.

    Tiles that get no cell are not drawn: whoever has more tiles than cells gives ranges as tiles.
    """
    glyphs = pen.glyphs
    margin, columns, lines = _sizes(grid, box)
    inner = sum(columns)
    rows = [
        _heads(grid, columns, margin),
        _edge(glyphs.corners[:2], glyphs.horizontal * inner, margin),
        *(
            row
            for index, height in enumerate(lines)
            for row in _band(grid, index, (height, columns, margin), pen)
        ),
        _edge(glyphs.corners[2:], glyphs.horizontal * inner, margin),
    ]
    return tuple(fit(row, box.width) for row in rows[: box.height])


def tile_at(grid: Grid, box: Box, x: int, y: int) -> tuple[int, int] | None:
    """The row and column of the tile that a cell of the grid shows; None for its edges and heads."""
    margin, columns, lines = _sizes(grid, box)
    row, column = _place(lines, y - 2), _place(columns, x - margin - 1)
    return None if row is None or column is None else (row, column)


def _place(sizes: Sequence[int], cell: int) -> int | None:
    for index, size in enumerate(sizes):
        if 0 <= cell < size:
            return index
        cell -= size
    return None


def _sizes(grid: Grid, box: Box) -> tuple[int, list[int], list[int]]:
    """Cells of the row heads, of every column of tiles, and lines of every row of them."""
    margin = max((width_of(head) for head in grid.row_heads), default=0) + 1
    columns = share(grid.widths, max(box.width - margin - 2, 0))
    return margin, columns, _heights(grid.heights, max(box.height - 3, 0))


def _heights(amounts: Sequence[int], lines: int) -> list[int]:
    """Lines of each row of tiles: equal amounts get equally many, also where a few lines are left over."""
    if len(set(amounts)) == 1 and len(amounts) <= lines:
        return [lines // len(amounts)] * len(amounts)
    return share(amounts, lines)


def _heads(grid: Grid, columns: Sequence[int], margin: int) -> Row:
    heads = "".join(left(head, width) for head, width in zip(grid.column_heads, columns, strict=True))
    return (Span(" " * (margin + 1) + heads, "dim"),)


def _edge(corners: str, line: str, margin: int) -> Row:
    return (Span(" " * margin + corners[0] + line + corners[1], "border"),)


def _band(grid: Grid, index: int, sizes: tuple[int, Sequence[int], int], pen: Pen) -> list[Row]:
    """The lines of one row of tiles, the text of each on its middle line."""
    height, columns, margin = sizes
    head = right(grid.row_heads[index], margin - 1) + " "
    rows = []
    for line in range(height):
        is_middle = line == (height - 1) // 2
        tiles = [
            _tile(tile, width, is_middle, pen) for tile, width in zip(grid.tiles[index], columns, strict=True)
        ]
        side = Span(pen.glyphs.vertical, "border")
        rows.append(merge((Span(head if line == 0 else " " * margin, "dim"), side, *tiles, side)))
    return rows


def _tile(tile: Tile, width: int, is_middle: bool, pen: Pen) -> Span:
    role = "selection" if tile.is_chosen or tile.is_lit else fill(tile.role)
    texture = pen.glyphs.hatch if tile.role == "padding" else tile.texture
    ground = (texture * width)[:width]
    # Brackets, because the colour of what is chosen may not be seen.
    name = crop(f"[{tile.text}]" if tile.is_chosen or tile.is_lit else tile.text, width)
    if not is_middle or not name:
        return Span(ground, role)
    if texture.strip() and tile.role != "padding":
        name = crop(f" {name} ", width)
    before = (width - width_of(name)) // 2
    name = name.replace(" ", pen.glyphs.hatch) if tile.role == "padding" else name
    return Span(ground[:before] + name + ground[before + width_of(name) :], role)
