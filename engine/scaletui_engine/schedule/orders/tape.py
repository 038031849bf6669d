"""A row in the making for a rank of two chunks, which numbers the microbatches itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.schedule.code import MICROBATCH_SHIFT, forward, input_grad, overlapped, weight_grad
from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code

F0, F1, I0, I1, W0, W1, B0, B1 = range(8)
"""What a tape takes: the kind and the chunk."""

_ONE: Final = 1 << MICROBATCH_SHIFT
_TO_BACKWARD: Final = Kind.BACKWARD - Kind.INPUT_GRAD


class Tape:
    """Appends actions of chunk 0 and 1; each kind of each chunk counts its microbatches up."""

    def __init__(self, stages: tuple[int, int], first: tuple[int, int] = (0, 0)) -> None:
        self.row: list[Code] = []
        places = tuple(zip(stages, first, strict=True))
        self._first = [make(*place) for make in (forward, input_grad, weight_grad) for place in places]
        self._next = list(self._first)
        self._waiting: list[Code] = []

    def count(self, action: int) -> int:
        """How many of F0 ... W1 there have been; B counts as I and as W."""
        return (self._next[action] - self._first[action]) >> MICROBATCH_SHIFT

    def run(self, times: int, *actions: int) -> None:
        """Append the actions one after the other, the whole sequence `times` times."""
        for _ in range(times):
            self.row += [self._take(action) for action in actions]

    def overlap(self, first: int, second: int) -> None:
        """Append a forward of one chunk and a full backward of the other, as a pair."""
        code = self._take(first)
        self.row += overlapped(code, self._take(second))

    def oldest_weight_grad(self) -> None:
        """Append the W that has waited longest since its I, if one waits."""
        if self._waiting:
            self.row.append(self._waiting.pop(0))

    def _take(self, action: int) -> Code:
        if action >= B0:
            code = self._next[action - B0 + I0] + _TO_BACKWARD
            self._next[action - B0 + W0] += _ONE
            self._next[action - B0 + I0] += _ONE
            return code
        code = self._next[action]
        self._next[action] = code + _ONE
        if I0 <= action <= I1:
            self._waiting.append(code - Kind.INPUT_GRAD + Kind.WEIGHT_GRAD)
        return code


def trimmed(row: list[Code], microbatches: int) -> list[Code]:
    """The row without the microbatches that were only planned."""
    end = microbatches << MICROBATCH_SHIFT
    return [code for code in row if code < end]
