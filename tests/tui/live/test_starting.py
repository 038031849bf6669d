"""What the live screen says of a job that it waits for."""

from __future__ import annotations

import pytest

from scaletui.options import Starting
from scaletui.text.glyphs import ASCII
from scaletui.text.numbers import numbers_for
from scaletui.view.live_starting import starting_rows
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.live.snapshot import Moment

S = 1_000_000_000


@pytest.mark.parametrize(
    ("runs", "now_s", "said"),
    [
        (True, 100, " starting: scaletui demo fsdp --ranks 2, 0 s"),
        (True, 107.9, " starting: scaletui demo fsdp --ranks 2, 7 s"),
        (True, 99, " starting: scaletui demo fsdp --ranks 2, 0 s"),
        (False, 107, " ! ended before its first sample: scaletui demo fsdp --ranks 2"),
    ],
)
def test_it_counts_the_seconds_and_tells_of_an_early_end(runs: bool, now_s: float, said: str) -> None:
    starting = Starting("scaletui demo fsdp --ranks 2", 100 * S, lambda: runs)
    (row,) = starting_rows(starting, Moment(int(now_s * S), 0), 80, Pen(ASCII, numbers_for("en")))
    assert "".join(span.text for span in row).rstrip() == said
    assert row_width(row) == 80
