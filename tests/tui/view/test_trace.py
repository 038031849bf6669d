"""Curves: levels, gaps, peaks, the limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.text.glyphs import ASCII, UNICODE
from scaletui.view.box import Box
from scaletui.view.row import row_width
from scaletui.view.trace import Scale, peaks, trace_rows
from scaletui_themes import fill

VALUES = st.lists(st.one_of(st.none(), st.floats(-10, 110)), max_size=300)


def drawn(values, scale, box, glyphs=ASCII) -> list[str]:
    """The rows without their roles."""
    return ["".join(span.text for span in row) for row in trace_rows(values, scale, box, glyphs)]


@pytest.mark.parametrize(
    ("values", "box", "rows"),
    [
        ([0, 50, 100], Box(3), [".=@"]),
        ([0, 50, 100], Box(5), ["  .=@"]),
        ([100], Box(1, 2), ["@", "@"]),
        ([50], Box(1, 2), [" ", "@"]),
        ([75, None, 25], Box(3, 2), ["+  ", "@ ="]),
        ([120, -5], Box(2), ["@."]),
        ([], Box(4), ["    "]),
        ([1, 2], Box(0), [""]),
        ([0, 100, 0, 0, None, None], Box(3), ["@. "]),
    ],
    ids=["levels", "right", "tall", "half", "gap", "clipped", "empty", "no-room", "peaks"],
)
def test_a_curve_in_ascii(values, box: Box, rows: list[str]) -> None:
    assert drawn(values, Scale(0, 100), box) == rows


def test_a_scale_without_extent_shows_samples_at_the_bottom() -> None:
    assert drawn([5, 5], Scale(5, 5), Box(2)) == [".."]


def test_what_is_above_the_limit_is_over() -> None:
    (row,) = trace_rows([10, 90, 95, 10], Scale(0, 100, 80), Box(4), UNICODE)
    assert [(len(span.text), span.role) for span in row] == [(1, "trace"), (2, fill("over")), (1, "trace")]
    rows = trace_rows([90], Scale(0, 100, 80), Box(1, 4), UNICODE)
    assert [row[0].text for row in rows] == [" "] * 4
    assert {row[0].role for row in rows} == {fill("over")}


@given(VALUES, st.integers(0, 120), st.integers(1, 8))
def test_a_curve_is_as_large_as_its_box(values, width: int, height: int) -> None:
    rows = trace_rows(values, Scale(0, 100), Box(width, height), UNICODE)
    assert [row_width(row) for row in rows] == [width] * height


@given(VALUES, st.integers(1, 120))
def test_no_peak_is_lost(values, count: int) -> None:
    known = [value for value in values if value is not None]
    kept = [value for value in peaks(values, count) if value is not None]
    assert max(kept, default=None) == max(known, default=None)
    assert len(peaks(values, count)) == min(len(values), count)
