"""What a simulation finds: how far the ranks are from one device, what they held and what they sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class Held:
    """Elements of one part that a rank held at most, counted in its arrays, beside what the layout says."""

    part: str
    counted: int
    predicted: int
    memory: int | None = None
    """What the memory engine says; None where it has no such part."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulation."""

    name: str
    ranks: int
    error: float
    """Largest difference from one device, over every value that was compared."""
    size: float
    """Largest value that was compared."""
    compared: int
    """How many values."""
    held: tuple[Held, ...] = ()
    sent: int = 0
    """Elements that one rank sent."""
    predicted_sent: int | None = None
    """What the formula says."""

    @property
    def relative(self) -> float:
        """Error over the largest value."""
        return self.error / self.size if self.size else self.error

    @property
    def exact(self) -> bool:
        """Whether the ranks agree with one device but for the order of sums, and all counts as predicted."""
        counts = all(each.counted == each.predicted for each in self.held)
        return self.relative < TOLERANCE and counts and self.predicted_sent in (None, self.sent)


TOLERANCE = 1e-10
"""Relative; float64 sums in another order differ by about 1e-15 of their terms."""


def compare(expected: Sequence[Array], found: Sequence[Array]) -> tuple[float, float, int]:
    """(largest difference, largest value, values compared)."""
    pairs = list(zip(expected, found, strict=True))
    error = max((float(np.max(np.abs(one - two))) for one, two in pairs if one.size), default=0.0)
    size = max((float(np.max(np.abs(one))) for one, _ in pairs if one.size), default=0.0)
    return error, size, sum(one.size for one, _ in pairs)
