"""Shard grids: tiles to scale in a box, the chosen one in brackets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.text.glyphs import ASCII, UNICODE
from scaletui.view.box import Box
from scaletui.view.grid import Grid, Tile, grid_rows, tile_at
from scaletui.view.pen import Pen
from scaletui.view.row import row_width

GRID = Grid(
    tiles=(
        (Tile("r0"), Tile("r1", "tile_odd")),
        (Tile("r2", "tile_odd", is_chosen=True), Tile("r3", "padding")),
    ),
    heights=(100, 50),
    widths=(64, 64),
    row_heads=("0", "100"),
    column_heads=("0", "64"),
)


def test_a_grid() -> None:
    rows = ["".join(span.text for span in row) for row in grid_rows(GRID, Box(20, 6), Pen(ASCII))]
    assert rows == [
        "     0      64      ",
        "    +--------------+",
        "  0 |  r0     r1   |",
        "    |              |",
        "100 | [r2]  //r3///|",
        "    +--------------+",
    ]


@pytest.mark.parametrize(("height", "lines"), [(9, 9), (6, 6), (5, 5), (3, 3), (1, 1)])
def test_a_grid_is_no_taller_than_asked(height: int, lines: int) -> None:
    assert len(grid_rows(GRID, Box(30, height), Pen())) == lines


@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.builds(Box, st.integers(0, 100), st.integers(0, 30)),
    st.sampled_from([UNICODE, ASCII]),
)
def test_a_grid_is_as_wide_as_asked(rows: int, columns: int, box: Box, glyphs) -> None:
    tiles = tuple(tuple(Tile(f"r{y * columns + x}") for x in range(columns)) for y in range(rows))
    heads = tuple(str(index * 1000) for index in range(5))
    grid = Grid(tiles, (7,) * rows, (9,) * columns, heads[:rows], heads[:columns])
    drawn = grid_rows(grid, box, Pen(glyphs))
    assert {row_width(row) for row in drawn} <= {box.width}
    assert len(drawn) <= box.height


def test_equal_tiles_are_equally_tall() -> None:
    tiles = tuple((Tile(f"r{row}"),) for row in range(3))
    grid = Grid(tiles, (8, 8, 8), (4,), ("0", "8", "16"), ("0",))
    rows = ["".join(span.text for span in row) for row in grid_rows(grid, Box(12, 11), Pen(ASCII))]
    assert [row.split("|")[1].strip() for row in rows if "|" in row] == ["r0", "", "r1", "", "r2", ""]


def test_tiles_under_a_cell() -> None:
    box = Box(20, 6)
    assert [tile_at(GRID, box, 5, y) for y in range(6)] == [None, None, (0, 0), (0, 0), (1, 0), None]
    assert [tile_at(GRID, box, x, 2) for x in (0, 4, 5, 11, 12, 18, 19)] == [
        None, None, (0, 0), (0, 0), (0, 1), (0, 1), None,
    ]  # fmt: skip
    assert tile_at(GRID, box, 5, 99) is None


def test_what_is_lit_is_bracketed_and_sums_are_strewn() -> None:
    tiles = ((Tile("r0", is_lit=True, texture="+  "), Tile("r1", texture="+  ")),)
    grid = Grid(tiles, (4,), (8, 8), ("0",), ("0", "8"))
    rows = ["".join(span.text for span in row) for row in grid_rows(grid, Box(30, 4), Pen(ASCII))]
    (line,) = (row for row in rows if "r0" in row)
    assert " [r0] " in line
    assert " r1 " in line
    assert line.strip(" 0|").startswith("+ ")
    assert line.count("+") > 5
