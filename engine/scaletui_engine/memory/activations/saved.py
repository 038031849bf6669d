"""One tensor that the forward pass keeps for the backward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Saved:
    """Bytes that one layer keeps of one microbatch."""

    name: str
    """Message id: "attention.norm_input"."""
    bytes: int
    module: str
    """What a recompute policy must name to drop it: "input", "norm", "core_attn", "mlp_act"."""
    weights: tuple[str, ...] = ()
    """Last names of the weights whose gradients need it; kept for its own sake when empty."""


def total(saved: Iterable[Saved]) -> int:
    """Bytes of all of them."""
    return sum([tensor.bytes for tensor in saved])
