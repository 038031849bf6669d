"""Whether an answer contains what a case expects: dicts by key, rows by rank, everything else exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

TOLERANCE: Final = 1e-9
"""Relative, where an expected value is written as a decimal fraction."""


def differences(expected: Any, predicted: Any, where: str = "") -> list[str]:
    """What differs, with its place; an answer may say more than was asked."""
    if isinstance(expected, dict):
        return _of_dicts(expected, predicted, where)
    if isinstance(expected, list) and _are_rows(expected):
        return _of_rows(expected, predicted, where)
    if isinstance(expected, list):
        return _of_lists(expected, predicted, where)
    return [] if _same(expected, predicted) else [f"{where}: {predicted!r} not {expected!r}"]


def _of_dicts(expected: dict[str, Any], predicted: Any, where: str) -> list[str]:
    if not isinstance(predicted, dict):
        return [f"{where}: {predicted!r} not {expected!r}"]
    found: list[str] = []
    for key, value in expected.items():
        if key not in predicted:
            found.append(f"{where}.{key}: not answered")
        else:
            found += differences(value, predicted[key], f"{where}.{key}")
    return found


def _are_rows(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(row, dict) and "rank" in row for row in value)


def _of_rows(expected: list[Any], predicted: Any, where: str) -> list[str]:
    rows = {row["rank"]: row for row in predicted} if isinstance(predicted, list) else {}
    found: list[str] = []
    for row in expected:
        rank = row["rank"]
        found += differences(row, rows.get(rank), f"{where}[rank {rank}]")
    return found


def _of_lists(expected: list[Any], predicted: Any, where: str) -> list[str]:
    if not isinstance(predicted, (list, tuple)) or len(predicted) != len(expected):
        return [f"{where}: {predicted!r} not {expected!r}"]
    return [
        each
        for index, (one, other) in enumerate(zip(expected, predicted, strict=True))
        for each in differences(one, other, f"{where}[{index}]")
    ]


def _same(expected: Any, predicted: Any) -> bool:
    if isinstance(predicted, dict) and "total" in predicted and isinstance(expected, (int, float)):
        predicted = predicted["total"]
    if isinstance(predicted, Fraction):
        predicted = float(predicted)
    if isinstance(expected, float) and isinstance(predicted, (int, float)):
        return math.isclose(expected, predicted, rel_tol=TOLERANCE)
    return bool(expected == predicted)
