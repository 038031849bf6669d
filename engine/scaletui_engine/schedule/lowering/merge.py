"""I and its own W right after it are one B: a runtime does both in one backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code

_TO_WEIGHT_GRAD = Kind.WEIGHT_GRAD - Kind.INPUT_GRAD
_TO_BACKWARD = Kind.BACKWARD - Kind.INPUT_GRAD


def merge_halves(row: list[Code]) -> list[Code]:
    """The row with B for every I, W of one stage and microbatch that stand side by side."""
    merged: list[Code] = []
    for code in row:
        if merged and _is_half_of(merged[-1], code):
            merged[-1] += _TO_BACKWARD
        else:
            merged.append(code)
    return merged


def _is_half_of(first: Code, second: Code) -> bool:
    return first & codes.KIND_MASK == Kind.INPUT_GRAD and second == first + _TO_WEIGHT_GRAD
