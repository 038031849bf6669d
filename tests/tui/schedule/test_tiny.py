"""The schedule screen while its window is dragged small: nothing that is drawn ever fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.state.schedule import Unit
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui.view.schedule import answer_rows, below_rows, details_rows
from scaletui.view.schedule_explain import explain_rows
from scaletui.view.schedule_head import head_rows
from scaletui.view.schedule_lanes import label_width, lane_rows
from scaletui.view.schedule_layout import WORDS, layout_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui.state.schedule_sight import Sight


@pytest.mark.parametrize("columns", [-500, -1, 0, 1, 2])
def test_there_is_a_stretch_and_a_zoom_on_any_number_of_columns(
    columns: int, make_sight: Callable[..., Sight]
) -> None:
    sight = make_sight(zoom=3)
    assert sight.stretch(columns).columns == max(columns, 1)
    assert sight.stretch(columns).per_column > 0
    assert 0 <= sight.zoom(columns) <= sight.deepest(columns)


@pytest.mark.parametrize("pen", [Pen(), Pen(big=True)], ids=["plain", "big"])
@pytest.mark.parametrize("width", [1, 2, 5, 6, 11, 12, 13, 20])
@pytest.mark.parametrize("options", [
    {}, {"ranks": 16, "zoom": 3}, {"beside": ("gpipe",)}, {"unit": Unit.SECONDS, "critical": True},
], ids=str)  # fmt: skip
def test_every_part_is_as_wide_as_the_narrowest_window(
    options: dict[str, object], width: int, pen: Pen, make_sight: Callable[..., Sight]
) -> None:
    sight = make_sight(**options)
    for height in (1, 3, 20):
        box = Box(width, height)
        layout = layout_of(sight, Box(max(width - 5, 1), height), pen, WORDS)
        rows = (
            *answer_rows(sight, width, pen),
            *head_rows(sight, layout, width, pen),
            *lane_rows(sight, layout, width, pen),
            *below_rows(sight, label_width(sight, layout, pen), box, pen),
            *details_rows(sight, box, pen),
            *explain_rows(sight, box, pen),
        )
        assert {row_width(row) for row in rows} == {width}
