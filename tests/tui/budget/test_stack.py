"""A step's parts one on the other: proportions, letters, what is over, and exact sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.text.glyphs import ASCII, MONO, UNICODE
from scaletui.view.box import Box
from scaletui.view.budget_stack import ORDER, stack_rows
from scaletui.view.row import row_width
from scaletui.view.trace import Scale
from scaletui_engine.memory.budget import PARTS, Parts
from scaletui_themes.roles import fill

SMALL, LARGE = Parts(weights=2, optimizer=4), Parts(weights=2, optimizer=4, activations=3, loss=1)


def drawn(columns: list[Parts], scale: Scale, height: int, glyphs=ASCII) -> list[str]:
    rows = stack_rows(columns, scale, Box(len(columns), height), glyphs)
    return ["".join(span.text for span in row) for row in rows]


def test_every_part_of_a_budget_has_its_place() -> None:
    assert sorted(ORDER) == sorted(PARTS)


@pytest.mark.parametrize(
    ("columns", "scale", "rows"),
    [
        ([SMALL] * 3, Scale(0, 6), ["OOO", "OOO", "WWW"]),
        ([Parts()], Scale(0, 6), [" ", " ", " "]),
        ([Parts(loss=6)], Scale(0, 6), ["L", "L", "L"]),
    ],
)
def test_a_cell_shows_what_fills_most_of_it(columns, scale: Scale, rows: list[str]) -> None:
    assert drawn(columns, scale, 3) == rows


def test_parts_come_and_go_above_those_that_stay() -> None:
    assert drawn([SMALL, LARGE], Scale(0, 10), 10) == [
        " L", " A", " A", " A", "OO", "OO", "OO", "OO", "WW", "WW",
    ]  # fmt: skip


def test_a_letter_stands_once_in_every_part_that_has_room() -> None:
    rows = drawn([SMALL, SMALL, *[LARGE] * 4], Scale(0, 10), 10, UNICODE)
    assert "".join(rows).replace(" ", "") == "LAOW"
    assert rows[-2] == "W     "
    patterns = drawn([SMALL] * 4, Scale(0, 6), 3, MONO)
    assert patterns == ["O▓▓▓", "▓▓▓▓", "W███"]


def test_the_top_of_a_column_is_as_full_as_it_reaches() -> None:
    (top, bottom) = stack_rows([Parts(weights=12)], Scale(0, 16), Box(1, 2), UNICODE)
    assert [(span.text, span.role) for span in top] == [("▄", "weights")]
    assert [(span.text, span.role) for span in bottom] == [(" ", fill("weights"))]


def test_what_rises_above_the_capacity_is_over() -> None:
    rows = stack_rows([SMALL, LARGE], Scale(0, 10, limit=8), Box(2, 5), UNICODE)
    assert [span.role for span in rows[0]] == ["text", fill("over")]
    assert all(span.role != fill("over") for row in rows[1:] for span in row)


@given(
    st.lists(st.builds(Parts, **{name: st.integers(0, 10**13) for name in PARTS}), min_size=1, max_size=60),
    st.integers(4, 20),
    st.sampled_from([ASCII, MONO, UNICODE]),
)
def test_rows_are_as_large_as_asked(columns, height: int, glyphs) -> None:
    top = max(1, *(parts.total for parts in columns))
    rows = stack_rows(columns, Scale(0.0, float(top), top / 2), Box(len(columns) + 3, height), glyphs)
    assert len(rows) == height
    assert {row_width(row) for row in rows} == {len(columns) + 3}
