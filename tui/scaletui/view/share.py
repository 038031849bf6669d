"""Shares a number of cells out by largest remainder, so that nothing that exists disappears."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def share(amounts: Sequence[int], cells: int) -> list[int]:
    """Cells for each amount, in proportion; they add up to `cells` unless every amount is 0.

    Each amount above 0 gets at least one cell; where there are fewer cells than such amounts, the largest get
    one each. Amounts must not be negative.
    """
    present = [index for index, amount in enumerate(amounts) if amount > 0]
    if cells <= len(present):
        winners = sorted(present, key=lambda index: (-amounts[index], index))[: max(cells, 0)]
        return [int(index in winners) for index in range(len(amounts))]
    given = [0] * len(amounts)
    large, left = present, cells
    while small := _below_one([amounts[index] for index in large], large, left):
        # What would get less than a cell takes a whole one, which leaves less for the others.
        for index in small:
            given[index] = 1
        left -= len(small)
        large = [index for index in large if index not in small]
    for index, count in zip(large, _largest_remainder([amounts[i] for i in large], left), strict=True):
        given[index] = count
    return given


def _below_one(amounts: list[int], indices: list[int], cells: int) -> list[int]:
    total = sum(amounts)
    return [index for index, amount in zip(indices, amounts, strict=True) if amount * cells < total]


def _largest_remainder(amounts: list[int], cells: int) -> list[int]:
    total = sum(amounts)
    if not total:
        return [0] * len(amounts)
    counts = [amount * cells // total for amount in amounts]
    order = sorted(range(len(amounts)), key=lambda index: (-(amounts[index] * cells % total), index))
    for index in order[: cells - sum(counts)]:
        counts[index] += 1
    return counts
