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
        return Parts(*sums.values())

    def pool(self, name: str) -> int:
        """Bytes of the terms of that name."""
        return sum([size for _, term, size in self.terms if term == name])


@dataclass(frozen=True, slots=True)
class Stretch:
    """Moments in their order that have terms in common."""

    common: tuple[Term, ...]
    own: tuple[tuple[str, tuple[Term, ...]], ...]
    """(phase, the terms of that moment alone)."""

    @property
    def moments(self) -> tuple[Moment, ...]:
        """Each with all its terms."""
        return tuple(Moment(phase, self.common + terms) for phase, terms in self.own)


def pools(terms: tuple[Term, ...]) -> tuple[int, int, int]:
    """Bytes of terms on the default stream, in buffers of all-gathers, and in sharded gradients."""
    own = gathering = reduced = 0
    for _, name, size in terms:
        if name == REDUCED:
            reduced += size
        elif name == GATHERING:
            gathering += size
        else:
            own += size
    return own, gathering, reduced
