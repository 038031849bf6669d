"""Stacked parts in whole rows: all are seen, steady ones look steady, columns are as high as their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.step_play import takes_of
from scaletui.text.glyphs import ASCII, UNICODE
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.step_memory import curve_of
from scaletui.view.step_stack import STACK, shares, stacked_rows, steady
from scaletui_engine.sharding.step_frames import HELD

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.scenario import Scenario


def column(rows: list[tuple[tuple[str, str], ...]], place: int) -> list[str]:
    """Roles of a column from the bottom, blanks left out."""
    return [row[place][1].removesuffix("_fill") for row in reversed(rows) if row[place][1] != "text"]


def cells(columns: list[tuple[int, ...]], height: int, pen: Pen) -> list[tuple[tuple[str, str], ...]]:
    rows = stacked_rows(columns, Box(len(columns), height), pen)
    return [tuple((letter, span.role) for span in row for letter in span.text) for row in rows]


def held(**parts: int) -> tuple[int, ...]:
    return tuple(parts.get(name, 0) for name in HELD)


@pytest.mark.parametrize("strategy", range(5))
@pytest.mark.parametrize("height", [6, 8, 12])
def test_every_part_of_a_real_step_is_seen(
    scenario: Callable[..., Scenario], strategy: int, height: int
) -> None:
    """And those whose bytes never change have the same rows in every column."""
    step = takes_of(scenario()).takes[strategy].step
    assert step is not None
    columns = list(curve_of(step, 68))
    rows = cells(columns, height, Pen(UNICODE))
    same = [name for place, name in enumerate(HELD) if len({parts[place] for parts in columns}) == 1]
    seen = [column(rows, place) for place in range(len(columns))]
    for parts, roles in zip(columns, seen, strict=True):
        assert set(roles) == {name for name, size in zip(HELD, parts, strict=True) if size}
    for name in same:
        if columns[0][HELD.index(name)]:
            assert (
                len({tuple(place for place, role in enumerate(roles) if role == name) for roles in seen}) == 1
            )


def test_a_sliver_of_weights_has_a_row() -> None:
    rows = cells([held(weights=1, optimizer=60, gradients=3), held(weights=1, optimizer=60)], 4, Pen(UNICODE))
    assert column(rows, 0) == ["weights", "optimizer", "optimizer", "gradients"]
    assert column(rows, 1) == ["weights", "optimizer", "optimizer"]


def test_one_row_shows_the_largest() -> None:
    assert column(cells([held(weights=1, optimizer=60)], 1, Pen(UNICODE)), 0) == ["optimizer"]


@pytest.mark.parametrize("pen", [Pen(UNICODE), Pen(ASCII)], ids=["unicode", "ascii"])
def test_columns_are_as_high_as_their_bytes(pen: Pen) -> None:
    columns = [held(weights=10, gradients=size) for size in (0, 10, 20, 30)]
    rows = cells(columns, 4, pen)
    assert [len(column(rows, place)) for place in range(4)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("stack", "rows", "base", "found"),
    [
        ((1, 1, 0, 0, 2, 2), 6, (1, 1, 0, 0, None, None), (1, 1, 0, 0, 2, 2)),
        ((1, 1, 0, 0, 9, 1), 4, (1, 1, 0, 0, None, None), (1, 1, 0, 0, 1, 1)),
        ((1, 1, 0, 0, 9, 1), 3, (1, 1, 0, 0, None, None), (1, 1, 0, 0, 1, 0)),
        ((1, 1, 0, 0, 0, 0), 3, (1, 1, 0, 0, None, None), (1, 1, 0, 0, 0, 0)),
        ((1, 9, 0, 0, 5, 0), 2, (0, 1, 0, 0, None, None), (0, 1, 0, 0, 1, 0)),
    ],
)
def test_what_changes_shares_what_is_left(
    stack: tuple[int, ...], rows: int, base: tuple[int | None, ...], found: tuple[int, ...]
) -> None:
    assert len(stack) == len(STACK)
    assert shares(stack, rows, base) == found


def test_steady_parts_leave_a_row_to_those_that_change() -> None:
    stacks = [((1, 60, 0, 0, 3, 0), 4), ((1, 60, 0, 0, 0, 0), 4)]
    assert steady(stacks, 16.0) == (1, 2, 0, 0, None, 0)


def test_in_three_rows_weights_go_before_what_changes() -> None:
    stacks = [((4, 8, 0, 0, 3, 5), 3), ((4, 8, 0, 0, 0, 3), 3)]
    assert steady(stacks, 20 / 3) == (1, 1, 0, 0, None, None)
