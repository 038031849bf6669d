"""Width, cropping and padding by cells, against Rich's measure."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from scaletui.view import cells
from scaletui.view.row import Span, beside, fit, merge, row_width

TEXT = st.text(max_size=30)
# Grapheme clusters, on whose width terminals disagree, are left to the canvas, which measures by the library.
PLAIN = st.text(
    st.characters(min_codepoint=32, max_codepoint=0xFFFF, categories=("L", "N", "P", "Sm", "Zs"))
    .filter(lambda character: cell_len(character) == cells.width_of(character)),
    max_size=30,
)  # fmt: skip
ROWS = st.lists(st.builds(Span, PLAIN, st.sampled_from(["text", "dim", "weights"])), max_size=6).map(tuple)


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("│█…", 3), ("中文", 4), ("e\u0301", 1), ("a\nb", 2), ("\u200b", 0), ("ação", 4)],
)
def test_width(text: str, width: int) -> None:
    assert cells.width_of(text) == width


@pytest.mark.parametrize(
    "block", ["Latin-1", "box drawing", "blocks", "geometric", "Greek", "Cyrillic", "CJK"]
)
def test_width_agrees_with_rich(block: str) -> None:
    first, last = {
        "Latin-1": (0xA1, 0xFF), "box drawing": (0x2500, 0x257F), "blocks": (0x2580, 0x259F),
        "geometric": (0x25A0, 0x25FC), "Greek": (0x370, 0x3FF),
        "Cyrillic": (0x400, 0x482), "CJK": (0x4E00, 0x4F00),
    }[block]  # fmt: skip
    known = [chr(code) for code in range(first, last + 1) if unicodedata.name(chr(code), "")]
    assert [c for c in known if cells.width_of(c) != cell_len(c) and c != "\xad"] == []


@pytest.mark.parametrize(
    ("text", "width", "ellipsis", "cropped"),
    [
        ("weights", 7, "…", "weights"), ("weights", 6, "…", "weigh…"), ("weights", 1, "…", "…"),
        ("weights", 0, "…", ""), ("weights", 3, "", "wei"), ("中文", 3, "", "中"), ("中文", 1, "", ""),
    ],
)  # fmt: skip
def test_crop(text: str, width: int, ellipsis: str, cropped: str) -> None:
    assert cells.crop(text, width, ellipsis) == cropped


@pytest.mark.parametrize(
    ("place", "text"),
    [(cells.left, "abc  "), (cells.right, "  abc"), (cells.centre, " abc ")],
    ids=["left", "right", "centre"],
)
def test_padding(place, text: str) -> None:
    assert place("abc", 5) == text


@given(TEXT, st.integers(0, 40))
def test_padded_text_is_as_wide_as_asked(text: str, width: int) -> None:
    assert {cells.width_of(place(text, width)) for place in (cells.left, cells.right, cells.centre)} == {
        width
    }


@given(ROWS, st.integers(0, 60))
def test_a_fitted_row_is_as_wide_as_asked(row: tuple[Span, ...], width: int) -> None:
    assert row_width(fit(row, width)) == width


@given(ROWS, ROWS, st.integers(0, 60))
def test_two_rows_side_by_side_are_as_wide_as_asked(left, right, width: int) -> None:
    assert row_width(beside(left, right, width)) == width


@given(ROWS)
def test_merging_keeps_the_text_and_leaves_no_neighbours_of_one_role(row: tuple[Span, ...]) -> None:
    merged = merge(row)
    assert "".join(span.text for span in merged) == "".join(span.text for span in row)
    assert all(one.role != other.role for one, other in pairwise(merged))
    assert all(span.text for span in merged)
