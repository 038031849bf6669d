"""Which stretch of time is on the screen: whole cells, pages with the playhead on them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.state.schedule_stretch import (
    MOST_CELLS,
    Scene,
    Stretch,
    cells_per_unit,
    deepest_zoom,
    readable_zoom,
    stretch_of,
)

SMALL, LARGE = Scene(33, 1, 74), Scene(1725, 1, 70)


@pytest.mark.parametrize(
    ("scene", "zoom", "cells"),
    [
        (SMALL, 0, 2), (SMALL, 1, 4), (Scene(51, 1, 75), 0, 1), (Scene(45, 1, 75), 0, 1.5),
        (LARGE, 0, 70 / 1725), (LARGE, 5, 1), (Scene(1.04, 0.03, 70, regular=False), 0, 70 * 0.03 / 1.04),
    ],
)  # fmt: skip
def test_equal_actions_get_equal_cells(scene: Scene, zoom: int, cells: float) -> None:
    assert cells_per_unit(scene, zoom) == pytest.approx(cells)


@pytest.mark.parametrize(
    ("scene", "zoom", "position", "pan", "start"),
    [
        pytest.param(SMALL, 0, 30, 0, 0, id="all of it"),
        pytest.param(SMALL, 0, 30, 3, 0, id="all of it stays"),
        pytest.param(SMALL, 2, 0, 0, 0, id="first page"),
        pytest.param(SMALL, 2, 7, 0, 6.875, id="a turned page overlaps by a quarter"),
        pytest.param(SMALL, 2, 33, 0, 23.75, id="the last page ends at the end"),
        pytest.param(SMALL, 2, 0, 1, 4.625, id="half a page on"),
        pytest.param(SMALL, 2, 0, -1, 0, id="nothing before the start"),
    ],
)
def test_pages(scene: Scene, zoom: int, position: float, pan: int, start: float) -> None:
    assert stretch_of(scene, zoom, position, pan).start == pytest.approx(start)


@given(
    st.floats(1, 5000), st.integers(20, 200), st.integers(0, 8), st.floats(0, 1), st.integers(-5, 5)
)  # fmt: skip
def test_the_playhead_is_in_view_unless_panned_away(
    total: float, columns: int, zoom: int, share: float, pan: int
) -> None:
    scene = Scene(total, 1, columns)
    zoom = min(zoom, deepest_zoom(scene))
    shown = stretch_of(scene, zoom, share * total, 0)
    assert 0 <= shown.column(share * total) <= columns
    away = stretch_of(scene, zoom, share * total, pan)
    assert -shown.per_column <= away.start <= max(total - (away.end - away.start), 0) + shown.per_column


def test_columns_of_times() -> None:
    stretch = Stretch(10, 20, 40)
    assert [stretch.column(time) for time in (9.9, 10, 10.25, 19.99, 20)] == [-1, 0, 1, 39, 40]


def test_the_deepest_zoom_still_fits_an_action() -> None:
    assert (
        cells_per_unit(SMALL, deepest_zoom(SMALL))
        <= MOST_CELLS
        < cells_per_unit(SMALL, deepest_zoom(SMALL) + 1)
    )


@pytest.mark.parametrize(
    ("scene", "shortest", "zoom"),
    [(SMALL, 1, 0), (LARGE, 1, 5), (LARGE, 0.5, 6), (Scene(150, 1, 75), 1, 1)],
    ids=["fits", "a cell a unit", "half units", "twice"],
)
def test_the_first_zoom_that_can_be_read(scene: Scene, shortest: float, zoom: int) -> None:
    assert readable_zoom(scene, shortest, 0.9) == zoom
    assert cells_per_unit(scene, zoom) * shortest >= 0.9


def test_what_is_never_readable_opens_at_the_deepest() -> None:
    assert readable_zoom(LARGE, 1e-6, 0.9) == deepest_zoom(LARGE)
