"""A row in the making for a rank of two chunks, which numbers the microbatches itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from scaletui_engine.schedule.code import (
    MICROBATCH_SHIFT,
    backward,
    forward,
    input_grad,
    overlapped,
    weight_grad,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.code import Code

    Make: TypeAlias = Callable[[int, int], Code]


class Tape:
    """Appends actions of chunk 0 and 1; each kind of each chunk counts its microbatches up."""

    def __init__(self, stages: tuple[int, int], first: tuple[int, int] = (0, 0)) -> None:
        self.row: list[Code] = []
        self._stages = stages
        self._first = first
        self._counts: Counter[tuple[Make, int]] = Counter()
        self._weights: list[tuple[int, int]] = []

    def count(self, make: Make, chunk: int) -> int:
        """How many of a kind a chunk has had; B counts as I and as W."""
        return self._counts[make, chunk]

    def pending(self, chunk: int) -> int:
        """I without their W."""
        return self.count(input_grad, chunk) - self.count(weight_grad, chunk)

    def run(self, times: int, *actions: tuple[Make, int]) -> None:
        """Append (kind, chunk) one after the other, the whole sequence `times` times."""
        for _ in range(times):
            self.row += [self._next(make, chunk) for make, chunk in actions]

    def overlap(self, forward_chunk: int) -> None:
        """Append a forward of one chunk and a full backward of the other, as a pair."""
        first = self._next(forward, forward_chunk)
        self.row += overlapped(first, self._next(backward, 1 - forward_chunk))

    def oldest_weight_grad(self) -> None:
        """Append the W that has waited longest, if one waits."""
        if self._weights:
            stage, microbatch = self._weights.pop(0)
            self.row.append(weight_grad(stage, microbatch))

    def _next(self, make: Make, chunk: int) -> Code:
        number = self._first[chunk] + self._counts[input_grad if make is backward else make, chunk]
        for counted in (input_grad, weight_grad) if make is backward else (make,):
            self._counts[counted, chunk] += 1
        if make is input_grad:
            self._weights.append((self._stages[chunk], number))
        return make(self._stages[chunk], number)


def trimmed(row: list[Code], microbatches: int) -> list[Code]:
    """The row without the microbatches that were only planned."""
    return [code for code in row if code >> MICROBATCH_SHIFT < microbatches]
