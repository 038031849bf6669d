"""Adam on arrays (arXiv:1412.6980, algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class Moments:
    """First and second moment of one array, and the steps so far."""

    first: Array
    second: Array
    steps: int = 0

    @property
    def size(self) -> int:
        """Elements of both."""
        return self.first.size + self.second.size


def fresh(shape: tuple[int, ...]) -> Moments:
    """Zero moments."""
    return Moments(np.zeros(shape), np.zeros(shape))


def adam(param: Array, grad: Array, moments: Moments, lr: float = 0.01) -> tuple[Array, Moments]:
    """(param, moments) after a step with betas 0.9 and 0.999."""
    steps = moments.steps + 1
    first = 0.9 * moments.first + 0.1 * grad
    second = 0.999 * moments.second + 0.001 * grad**2
    move = lr * (first / (1 - 0.9**steps)) / (np.sqrt(second / (1 - 0.999**steps)) + 1e-8)
    return param - move, Moments(first, second, steps)
