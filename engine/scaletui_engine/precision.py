"""Precision recipes: the bytes that every parameter costs, spelled out part by part."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Precision:
    """Bytes a parameter before sharding; the optimizer's own moments come from the optimizer.

    At least six conventions circulate (8, 10, 12, 16, 18 and 20 bytes a parameter with Adam), so a
    number never appears without the name of its recipe.
    """

    id: str
    weights: int
    """Bytes a persistent weight."""
    compute: int
    """Bytes a weight or an activation takes in the forward pass."""
    gradients: int
    """Bytes an accumulated gradient."""
    reduce: int
    """Bytes a gradient takes while it is reduced."""
    master: int
    """Bytes of the master copy beside the weights; 0 where the weights are the master."""
    moment: int
    """Bytes an optimizer moment."""
    source: str
