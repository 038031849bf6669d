"""Stacked bars: proportions, the capacity's line, what is over, and widths that always hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.text.glyphs import ASCII, MONO, UNICODE
from scaletui.view.bars import Bar, bar_rows, chip, split, track_row
from scaletui.view.pen import Pen
from scaletui.view.row import Row, Span, row_width
from scaletui_themes import PARTS, fill

PENS = st.builds(Pen, st.sampled_from([UNICODE, MONO, ASCII]), big=st.booleans())
PARTS_HELD = st.dictionaries(st.sampled_from(PARTS), st.integers(0, 1 << 40)).map(
    lambda held: tuple(held.items())
)
NOTES = st.sampled_from(["", "40.3", "1,234.5"])
BARS = st.lists(st.builds(Bar, st.text("stage 0123", max_size=12), PARTS_HELD, NOTES), max_size=4)


def text_of(row: Row) -> str:
    """The row without its roles."""
    return "".join(span.text for span in row)


@pytest.mark.parametrize(
    ("parts", "capacity", "drawn"),
    [
        ({"weights": 50, "activations": 50}, 200, "WWWWWAAAAA..........|"),
        ({"weights": 100, "activations": 100}, 200, "WWWWWWWWWWAAAAAAAAAA|"),
        ({"weights": 200, "activations": 200}, 200, "WWWWWWWWWW|AA over AA"),
        ({"weights": 1, "activations": 199}, 100, "WAAAAAAAAA|AA over AA"),
        ({"weights": 20, "loss": 181}, 200, "WWLLLLLLLLLLLLLLLLL|L"),
        ({"weights": 100, "gradients": 0}, 0, "WWWWWWWWWWWWWWWWWWWW "),
        ({}, 100, "....................|"),
        ({}, 0, "                     "),
    ],
    ids=["fits", "full", "twice", "small-part", "just-over", "no-capacity", "empty", "nothing-known"],
)
def test_a_bar_in_ascii(parts: dict[str, int], capacity: int, drawn: str) -> None:
    bar = Bar("", tuple(parts.items()))
    assert text_of(track_row(bar, (capacity, max(capacity, bar.total)), 20, Pen(ASCII))) == drawn


def test_what_is_over_is_drawn_as_over() -> None:
    row = track_row(Bar("", (("weights", 300),)), (200, 300), 30, Pen(ASCII))
    assert [(span.role, len(span.text)) for span in row] == [
        ("weights_fill", 20), ("capacity", 1), ("over_fill", 10),
    ]  # fmt: skip


def test_bars_share_one_scale_and_line_up() -> None:
    bars = [Bar("stage 0", (("weights", 300),), "300"), Bar("stage 10", (("weights", 100),), "9")]
    rows = [text_of(row) for row in bar_rows(bars, 200, 40, Pen(ASCII))]
    assert rows == ["stage 0  WWWWWWWWWWWWWWWWW|WW over W 300", "stage 10 WWWWWWWWW........|            9"]


def test_big_bars_are_three_lines_with_big_figures() -> None:
    rows = [
        text_of(row) for row in bar_rows([Bar("r0", (("weights", 1),), "4")], 2, 20, Pen(ASCII, big=True))
    ]
    assert rows == ["r0 WWWWWW.....|     ", "   WWWWWW.....| |_| ", "              |   | "]


@pytest.mark.parametrize(("glyphs", "text"), [(UNICODE, " W "), (MONO, "W██"), (ASCII, "WWW")])
def test_the_chip_of_a_legend(glyphs, text: str) -> None:
    assert chip("weights", Pen(glyphs)) == Span(text, "weights_fill")


@given(BARS, st.integers(0, 1 << 40), st.integers(1, 220), PENS)
def test_bars_are_as_wide_as_asked(bars: list[Bar], capacity: int, width: int, pen: Pen) -> None:
    rows = bar_rows(bars, capacity, width, pen)
    assert {row_width(row) for row in rows} <= {width}
    assert len(rows) == len(bars) * (3 if pen.big else 1)


@given(BARS, st.integers(1, 1 << 40), st.integers(12, 200), st.sampled_from([UNICODE, MONO, ASCII]))
def test_every_part_is_seen(bars: list[Bar], capacity: int, cells: int, glyphs) -> None:
    for bar in bars:
        row = track_row(bar, (capacity, max(capacity, bar.total)), cells, Pen(glyphs))
        drawn = text_of(row).replace(" over ", "")
        assert row_width(row) == cells + 1
        assert all(glyphs.letter(role) in drawn for role, amount in bar.parts if amount)


@given(st.lists(st.builds(Span, st.text("abc", max_size=8)), max_size=5).map(tuple), st.integers(0, 50))
def test_a_row_cut_in_two_loses_nothing(row: Row, cells: int) -> None:
    before, after = split(row, cells)
    assert text_of(before) + text_of(after) == text_of(row)
    assert len(text_of(before)) == min(cells, len(text_of(row)))


def test_roles_of_a_bar_are_fills() -> None:
    row = track_row(Bar("", (("weights", 1), ("reserved", 1))), (4, 4), 12, Pen())
    assert [span.role for span in row] == [fill("weights"), fill("reserved"), fill("free"), "capacity"]
