"""Precision recipes: the bytes that every parameter costs, spelled out part by part."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Precision:
    """Bytes a parameter before sharding; how many moments there are, the optimizer says.

    At least six conventions circulate (8, 10, 12, 16, 18 and 20 bytes a parameter with Adam), so a
    number never appears without the name of its recipe.
    """

    id: str
    weights: int
    """Bytes a persistent weight."""
    compute: int
    """Bytes a weight or an activation takes in the forward pass."""
    gradients: int
    """Bytes that persist for a gradient until the optimizer's step, accumulation copy included."""
    reduce: int
    """Bytes a gradient takes while it is reduced."""
    master: int
    """Bytes of the master copy beside the weights; 0 where the weights are the master."""
    moment: int
    """Bytes the optimizer's first moment takes."""
    source: str
    second_moment: int | None = None
    """Bytes its second moment takes; None for the same as the first."""

    @property
    def moments(self) -> tuple[int, int]:
        """Bytes of the first and the second moment."""
        return (self.moment, self.moment if self.second_moment is None else self.second_moment)

    @property
    def adam_bytes(self) -> int:
        """Bytes a parameter in all with Adam's two moments: the number conventions are known by."""
        return self.weights + self.gradients + self.master + sum(self.moments)
