"""Reverse-mode differentiation of numpy expressions: small enough to read, exact enough to compare with.

A leading axis of an array may stand for ranks; the operations of `parallel.py` work across it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]
    Pull = Callable[[Array], Array]


class Var:
    """An array with the way back to what it was made of."""

    __slots__ = ("data", "grad", "parents")

    def __init__(self, data: Any, parents: Sequence[tuple[Var, Pull]] = ()) -> None:
        self.data: Array = np.asarray(data, dtype=np.float64)
        self.grad: Array = np.zeros_like(self.data)
        self.parents = tuple(parents)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.data.shape

    def __add__(self, other: Var) -> Var:
        return Var(
            self.data + other.data,
            ((self, lambda grad: _fold(grad, self.shape)), (other, lambda grad: _fold(grad, other.shape))),
        )

    def __mul__(self, other: Var) -> Var:
        return Var(
            self.data * other.data,
            (
                (self, lambda grad: _fold(grad * other.data, self.shape)),
                (other, lambda grad: _fold(grad * self.data, other.shape)),
            ),
        )

    def __matmul__(self, other: Var) -> Var:
        return Var(
            self.data @ other.data,
            (
                (self, lambda grad: _fold(grad @ np.swapaxes(other.data, -1, -2), self.shape)),
                (other, lambda grad: _fold(np.swapaxes(self.data, -1, -2) @ grad, other.shape)),
            ),
        )

    def scaled(self, factor: float) -> Var:
        """The array times a number."""
        return Var(self.data * factor, ((self, lambda grad: grad * factor),))

    def reshaped(self, *shape: int) -> Var:
        """The same elements in another shape."""
        before = self.shape
        return Var(self.data.reshape(shape), ((self, lambda grad: grad.reshape(before)),))

    def swapped(self, one: int, two: int) -> Var:
        """Two axes exchanged."""
        return Var(np.swapaxes(self.data, one, two), ((self, lambda grad: np.swapaxes(grad, one, two)),))

    def backward(self, grad: Array | None = None) -> None:
        """Add the gradient of this array, 1 everywhere by default, to everything that it was made of."""
        self.grad = np.ones_like(self.data) if grad is None else np.array(grad, dtype=np.float64)
        for var in reversed(_sorted(self)):
            for parent, pull in var.parents:
                parent.grad = parent.grad + pull(var.grad)


def relu(x: Var) -> Var:
    """max(x, 0)."""
    return Var(np.maximum(x.data, 0), ((x, lambda grad: grad * (x.data > 0)),))


def softmax(x: Var, mask: Array | None = None) -> Var:
    """Over the last axis; `mask` is added before."""
    scores = x.data if mask is None else x.data + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found = weights / weights.sum(axis=-1, keepdims=True)
    return Var(found, ((x, lambda grad: found * (grad - (grad * found).sum(axis=-1, keepdims=True))),))


def rms_norm(x: Var, gain: Var, eps: float = 1e-6) -> Var:
    """x / sqrt(mean(x^2) + eps) times a gain, over the last axis (arXiv:1910.07467)."""
    inverse = 1 / np.sqrt(np.mean(x.data**2, axis=-1, keepdims=True) + eps)

    def pull(grad: Array) -> Array:
        along = np.mean(grad * x.data, axis=-1, keepdims=True)
        pulled: Array = grad * inverse - x.data * along * inverse**3
        return pulled

    return Var(x.data * inverse, ((x, pull),)) * gain


def _fold(grad: Array, shape: tuple[int, ...]) -> Array:
    """Sum over the axes that were broadcast."""
    extra = grad.ndim - len(shape)
    grad = grad.sum(axis=tuple(range(extra))) if extra else grad
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and grad.shape[axis] != 1)
    folded: Array = grad.sum(axis=stretched, keepdims=True) if stretched else grad
    return folded


def _sorted(last: Var) -> list[Var]:
    """Everything that `last` was made of, each after its own parts."""
    found: list[Var] = []
    seen: set[int] = set()
    stack: list[tuple[Var, bool]] = [(last, False)]
    while stack:
        var, done = stack.pop()
        if done:
            found.append(var)
        elif id(var) not in seen:
            seen.add(id(var))
            stack.append((var, True))
            stack += [(parent, False) for parent, _ in var.parents]
    return found
