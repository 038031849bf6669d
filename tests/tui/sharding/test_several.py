"""Ranks on a tile that stands for several."""

from __future__ import annotations

import pytest

from scaletui.view.sharding_owner import several_text


@pytest.mark.parametrize(
    ("first", "final", "low", "high", "said"),
    [
        (32, 36, {"tp": 0, "dp": 0}, {"tp": 0, "dp": 1}, "r32, r36"),
        (0, 1, {"dp": 0}, {"dp": 1}, "r0, r1"),
        (4, 7, {"dp": 0}, {"dp": 3}, "r4-7"),
        (32, 44, {"dp": 0}, {"dp": 3}, "r32 +3 more"),
        (0, 21, {"tp": 0, "dp": 0}, {"tp": 1, "dp": 5}, "r0 and more"),
        (0, 9, {"tp": 0}, {}, "r0 and more"),
    ],
)
def test_a_range_is_of_ranks_that_follow_each_other(
    first: int, final: int, low: dict[str, int], high: dict[str, int], said: str
) -> None:
    assert several_text(first, final, (low, high)) == said
