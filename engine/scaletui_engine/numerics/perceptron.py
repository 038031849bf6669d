"""The smallest model that the data-parallel simulations train: two layers and a squared error."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.numerics.autograd import Var, relu

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs (n, inputs) and targets (n, outputs)."""

    x: Array
    y: Array

    def __len__(self) -> int:
        """Samples."""
        return len(self.x)

    def part(self, start: int, stop: int) -> Batch:
        """Samples [start, stop)."""
        return Batch(self.x[start:stop], self.y[start:stop])


SIZES = (12, 20, 8)
"""Inputs, hidden, outputs."""


def weights(seed: int = 0, sizes: tuple[int, ...] = SIZES) -> list[Array]:
    """A matrix and a bias for each layer."""
    dice = np.random.default_rng(seed)
    found: list[Array] = []
    for inside, outside in pairwise(sizes):
        found += [dice.normal(size=(inside, outside)) / np.sqrt(inside), dice.normal(size=outside) / 10]
    return found


def batch(samples: int, seed: int = 1, sizes: tuple[int, ...] = SIZES) -> Batch:
    """Random samples."""
    dice = np.random.default_rng(seed)
    return Batch(dice.normal(size=(samples, sizes[0])), dice.normal(size=(samples, sizes[-1])))


def forward(params: list[Var], x: Var) -> Var:
    """Linear layers with a ReLU between them."""
    for index in range(0, len(params), 2):
        x = x @ params[index] + params[index + 1]
        x = relu(x) if index + 2 < len(params) else x
    return x


def gradients(params: list[Array], data: Batch) -> list[Array]:
    """Of the mean over samples of half the squared error; zeros where there is no sample."""
    held = [Var(param) for param in params]
    if len(data):
        out = forward(held, Var(data.x))
        out.backward((out.data - data.y) / len(data))
    return [var.grad for var in held]
