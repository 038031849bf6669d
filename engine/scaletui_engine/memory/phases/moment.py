"""One moment of a step as named terms, each belonging to a part of the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.memory.budget import PARTS, Parts

Term = tuple[str, str, int]
"""(part, message id, bytes)."""

GATHERING: Final = "unsharded.gathering"
"""The buffer that an all-gather fills: allocated on a stream, and so in a pool, of its own."""
REDUCED: Final = "gradients.reduced"
"""Sharded gradients that a reduce-scatter leaves: allocated on the reduce stream."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The terms at one moment."""

    phase: str
    """Message id: "forward", "loss", "head", "backward", "end_of_backward", "step"."""
    terms: tuple[Term, ...]

    @property
    def total(self) -> int:
        """Allocated bytes."""
        return sum([size for _, _, size in self.terms])

    @property
    def parts(self) -> Parts:
        """The terms summed by part."""
        sums: dict[str, int] = dict.fromkeys(PARTS, 0)
        for part, _, size in self.terms:
            sums[part] += size
        return Parts(**sums)

    def pool(self, name: str) -> int:
        """Bytes of the terms of that name."""
        return sum([size for _, term, size in self.terms if term == name])
