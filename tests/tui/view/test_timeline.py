"""Timelines: which cell shows what, the playhead, letters where there are no hues."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.text.glyphs import ASCII, MONO, UNICODE
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui.view.timeline import (
    Block,
    Lane,
    Window,
    block_at,
    label_width,
    playhead_row,
    timeline_rows,
    window_of,
)

LANE = Lane(
    "r0", (Block(0, 1, "0", "forward"), Block(1, 2, "1", "forward_odd"), Block(4, 6, "0", "backward"))
)


@st.composite
def lanes(draw: st.DrawFn) -> tuple[Lane, ...]:
    """Lanes whose blocks follow each other with gaps."""
    made = []
    for rank in range(draw(st.integers(1, 4))):
        time, blocks = 0.0, []
        for microbatch in range(draw(st.integers(0, 12))):
            time += draw(st.floats(0, 3))
            length = draw(st.floats(0.01, 5))
            role = draw(st.sampled_from(["forward", "backward", "input_grad_odd", "weight_grad"]))
            blocks.append(Block(time, time + length, str(microbatch), role))
            time += length
        made.append(Lane(f"r{rank}", tuple(blocks)))
    return tuple(made)


def drawn(pen: Pen, window: Window) -> str:
    """The lane's row without its roles."""
    return "".join(span.text for span in timeline_rows((LANE,), window, pen)[0])


@pytest.mark.parametrize(
    ("glyphs", "window", "text"),
    [
        (ASCII, Window(0, 6, 6), "r0 01..B0"),
        (UNICODE, Window(0, 6, 6), "r0 01  0 "),
        (ASCII, Window(0, 6, 12), "r0 F0F1....B0  "),
        (UNICODE, Window(0, 6, 12), "r0 0 1     0   "),
        (MONO, Window(0, 8, 8), "r0 01··B0··"),
        (ASCII, Window(4, 6, 4), "r0 B0  "),
        (ASCII, Window(0, 6, 3), "r0 1.0"),
    ],
    ids=["one-cell", "hues", "letters", "hues-wide", "patterns", "paged", "half"],
)
def test_a_lane(glyphs, window: Window, text: str) -> None:
    assert drawn(Pen(glyphs), window) == text


@pytest.mark.parametrize(
    ("time", "text"),
    [(0, "   v     "), (1.5, "    v    "), (5.99, "        v"), (6, "         "), (-1, "         ")],
)
def test_the_playhead(time: float, text: str) -> None:
    row = playhead_row(time, Window(0, 6, 6), 3, Pen(ASCII))
    assert "".join(span.text for span in row) == text


def test_a_tick_of_the_playhead_changes_its_own_row_only() -> None:
    window = window_of((LANE,), 40)
    assert timeline_rows((LANE,), window, Pen()) == timeline_rows((LANE,), window, Pen())
    assert len(playhead_row(2, window, label_width((LANE,)), Pen())) <= 3


@pytest.mark.parametrize(("time", "text"), [(0.5, "0"), (1.0, "1"), (3.0, None), (4.0, "0"), (6.0, None)])
def test_what_a_lane_does_at_a_time(time: float, text: str | None) -> None:
    block = block_at(LANE, time)
    assert (block and block.text) == text


def test_whole_cells_per_unit_where_they_fit() -> None:
    assert window_of((LANE,), 3 + 15) == Window(0.0, 7.5, 15)
    assert window_of((LANE,), 3 + 4) == Window(0.0, 6, 4)


@given(lanes(), st.integers(4, 120), st.sampled_from([UNICODE, MONO, ASCII]), st.booleans())
def test_a_timeline_is_as_wide_as_asked(chart, width: int, glyphs, big: bool) -> None:
    rows = timeline_rows(chart, window_of(chart, width), Pen(glyphs, big=big))
    assert {row_width(row) for row in rows} == {max(width, label_width(chart) + 1)}
    assert len(rows) == len(chart) * (1 + big)


@given(lanes(), st.integers(10, 120))
def test_a_cell_shows_what_happens_at_its_middle(chart, width: int) -> None:
    window = window_of(chart, width)
    for lane, row in zip(chart, timeline_rows(chart, window, Pen()), strict=True):
        roles = [span.role for span in row for _ in span.text][label_width(chart) :]
        for column, role in enumerate(roles):
            block = block_at(lane, window.time(column))
            assert role == (f"{block.role}_fill" if block else "idle")
