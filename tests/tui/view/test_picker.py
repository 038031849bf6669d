"""The list that is narrowed by typing: every row as wide as asked, what is cut says so."""

from __future__ import annotations

import pytest

from scaletui.state.picking import Item, Picking
from scaletui.text.glyphs import ASCII, UNICODE
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.picker import picker_rows
from scaletui.view.row import row_width

HINT = "-18.6 GiB  over the host's link a step: 8.2 GiB"
ITEMS = (Item("params", "offload params", HINT), Item("tp", "tp 4", "-9.1 GiB"))


@pytest.mark.parametrize(("width", "said"), [(70, HINT), (66, HINT), (65, None), (40, None), (20, None)])
@pytest.mark.parametrize("pen", [Pen(ASCII), Pen(UNICODE)], ids=["ascii", "unicode"])
def test_a_hint_is_whole_or_ends_in_an_ellipsis(pen: Pen, width: int, said: str | None) -> None:
    rows = picker_rows("one change", Picking(ITEMS), Box(width, 10), pen)
    assert {row_width(row) for row in rows} == {width}
    lines = ["".join(span.text for span in row).rstrip() for row in rows]
    cut = next(line for line in lines if "offload" in line)
    assert cut.endswith(pen.glyphs.ellipsis if said is None else said)
    assert any(line.endswith("-9.1 GiB") for line in lines) is (width > 30)


@pytest.mark.parametrize("height", [1, 2, 4, 5, 6, 20])
def test_a_low_list_keeps_to_its_lines(height: int) -> None:
    rows = picker_rows("one change", Picking(ITEMS), Box(40, height), Pen(UNICODE))
    assert len(rows) == height
