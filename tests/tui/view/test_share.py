"""Cells shared out by largest remainder."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.view.share import share

AMOUNTS = st.lists(st.integers(0, 1 << 45), max_size=12)


@pytest.mark.parametrize(
    ("amounts", "cells", "counts"),
    [
        ([], 10, []),
        ([0, 0], 10, [0, 0]),
        ([1, 1], 0, [0, 0]),
        ([50, 50], 10, [5, 5]),
        ([1, 1, 1], 10, [4, 3, 3]),
        ([1, 999], 10, [1, 9]),
        ([0, 999], 10, [0, 10]),
        ([1, 1, 998], 3, [1, 1, 1]),
        ([1, 5, 3], 2, [0, 1, 1]),
        ([41, 31, 28], 10, [4, 3, 3]),
        ([1, 2, 10, 87], 10, [1, 1, 1, 7]),
    ],
)
def test_shares(amounts: list[int], cells: int, counts: list[int]) -> None:
    assert share(amounts, cells) == counts


@given(AMOUNTS, st.integers(0, 300))
def test_shares_add_up_to_the_cells(amounts: list[int], cells: int) -> None:
    present = sum(amount > 0 for amount in amounts)
    assert sum(share(amounts, cells)) == (cells if present and cells >= present else min(cells, present))


@given(AMOUNTS, st.integers(0, 300))
def test_what_is_there_is_seen_and_what_is_not_is_not(amounts: list[int], cells: int) -> None:
    counts = share(amounts, cells)
    assert all(count == 0 for amount, count in zip(amounts, counts, strict=True) if amount == 0)
    if cells >= sum(amount > 0 for amount in amounts):
        assert all(count >= 1 for amount, count in zip(amounts, counts, strict=True) if amount > 0)


@given(AMOUNTS, st.integers(0, 300))
def test_more_never_gets_fewer_cells(amounts: list[int], cells: int) -> None:
    pairs = sorted(zip(amounts, share(amounts, cells), strict=True))
    by_amount: dict[int, list[int]] = {}
    for amount, count in pairs:
        by_amount.setdefault(amount, []).append(count)
    ordered = [by_amount[amount] for amount in sorted(by_amount)]
    assert all(max(less) <= max(more) for less, more in pairwise(ordered))


@given(st.lists(st.integers(1, 1 << 40), min_size=1, max_size=8), st.integers(64, 300))
def test_a_share_is_less_than_one_cell_off_unless_a_small_one_was_raised(
    amounts: list[int], cells: int
) -> None:
    quotas = [amount * cells / sum(amounts) for amount in amounts]
    if min(quotas) >= 1:
        assert all(abs(count - quota) < 1 for count, quota in zip(share(amounts, cells), quotas, strict=True))
