"""Tables: columns line up, give way in order, and never exceed their width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.view.row import Span, row_width
from scaletui.view.table import Column, table_rows

COLUMNS = (
    Column("part"),
    Column("GiB", numeric=True),
    Column("%", numeric=True, rank=1),
    Column("what", shrinks=True),
)
LINES = (
    (Span("weights"), Span("3.7"), Span("9"), Span("8.03 B x 4 B / 8")),
    (Span("optimizer"), Span("19.9"), Span("49"), Span("short")),
)


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (40, ["part        GiB   %  what              ", "weights     3.7   9  8.03 B x 4 B / 8  "]),
        (30, ["part        GiB   %  what     ", "weights     3.7   9  8.03 B x~"]),
        (25, ["part        GiB   %  what", "weights     3.7   9  8.0~"]),
        (24, ["part        GiB  what   ", "weights     3.7  8.03 B~"]),
        (10, ["part      ", "weights   "]),
    ],
    ids=["wide", "shrunk", "least", "a-column-less", "cropped"],
)
def test_a_table(width: int, rows: list[str]) -> None:
    drawn = ["".join(span.text for span in row) for row in table_rows(COLUMNS, LINES, width, "~")]
    assert [row[:width] for row in drawn[:2]] == [row[:width].ljust(width) for row in rows]


def test_a_table_without_heads_has_no_head() -> None:
    rows = table_rows((Column(""), Column("")), ((Span("a"), Span("b", "dim")),), 6)
    assert rows == ((Span("a  "), Span("b", "dim"), Span("  ")),)


@given(
    st.lists(st.builds(Column, st.text("abc", max_size=6), st.booleans(), st.integers(0, 2), st.booleans()),
             min_size=1, max_size=5),
    st.integers(0, 80),
    st.data(),
)  # fmt: skip
def test_a_table_is_as_wide_as_asked(columns: list[Column], width: int, data: st.DataObject) -> None:
    line = st.tuples(*[st.builds(Span, st.text("xyz…", max_size=12)) for _ in columns])
    rows = table_rows(columns, data.draw(st.lists(line, max_size=4)), width, "…")
    assert {row_width(row) for row in rows} <= {width}
