"""Which cells of a row are written again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region

from scaletui.canvas import changed_regions, changed_spans
from scaletui.view.row import Row, Span

ROWS = st.lists(
    st.builds(Span, st.text("ab ", max_size=25), st.sampled_from(["text", "dim", "weights_fill"])), max_size=5
).map(tuple)


def cells(row: Row, width: int) -> list[tuple[str, str]]:
    """The row as cells, blanks behind it."""
    drawn = [(character, span.role) for span in row for character in span.text]
    return drawn + [(" ", "text")] * (width - len(drawn))


def row(*spans: tuple[str, str]) -> Row:
    """A row from pairs."""
    return tuple(Span(text, role) for text, role in spans)


@pytest.mark.parametrize(
    ("old", "new", "spans"),
    [
        (row(("abc", "text")), row(("abd", "text")), [(2, 3)]),
        (row(("abc", "text")), row(("abc", "dim")), [(0, 3)]),
        (row(("abc", "text")), row(("ab", "text"), ("c", "dim")), [(2, 3)]),
        (row(("abc", "text")), row(("abc   ", "text")), []),
        (row(("abc", "text")), row(("ab", "text")), [(2, 3)]),
        (row(("a" + "." * 11 + "b", "text")), row(("x" + "." * 11 + "y", "text")), [(0, 13)]),
        (row(("a" + "." * 13 + "b", "text")), row(("x" + "." * 13 + "y", "text")), [(0, 1), (14, 15)]),
        (row(("中a", "text")), row(("中b", "text")), [(0, 3)]),
        (row(("e", "text")), row(("e\u0301", "text")), [(0, 1)]),
        ((), row(("ab", "text")), [(0, 2)]),
    ],
    ids=["one", "role", "half", "blanks", "shorter", "joined", "apart", "wide", "combining", "new"],
)  # fmt: skip
def test_changed_spans(old: Row, new: Row, spans: list[tuple[int, int]]) -> None:
    assert changed_spans(old, new) == spans


def test_equal_rows_mark_nothing() -> None:
    rows = [row(("abc", "text")), row(("def", "dim"))]
    assert changed_regions(rows, [row(("abc", "text")), row(("def", "dim"))]) == []


def test_one_changed_row_is_one_region() -> None:
    rows = [row(("abc", "text"))] * 3
    assert changed_regions(rows, [rows[0], row(("abX", "text")), rows[2]]) == [Region(2, 1, 1, 1)]


def test_a_row_that_goes_is_blanked() -> None:
    assert changed_regions([row(("abc", "text"))] * 2, [row(("abc", "text"))]) == [Region(0, 1, 3, 1)]


@given(ROWS, ROWS)
def test_writing_the_spans_gives_the_new_row(old: Row, new: Row) -> None:
    shown, wanted = cells(old, 130), cells(new, 130)
    for start, end in changed_spans(old, new):
        shown[start:end] = wanted[start:end]
    assert shown == wanted


@given(ROWS, ROWS)
def test_spans_are_in_order_and_each_starts_and_ends_with_a_change(old: Row, new: Row) -> None:
    shown, wanted = cells(old, 130), cells(new, 130)
    end_before = -1
    for start, end in changed_spans(old, new):
        assert end_before < start < end
        assert shown[start] != wanted[start]
        assert shown[end - 1] != wanted[end - 1]
        end_before = end
