"""Model states as the ZeRO paper counts them (arXiv:1910.02054, section 3.1 and figure 1)."""

from __future__ import annotations

OPTIMIZER_BYTES = 12
"""K: fp32 weights, momentum and variance of mixed-precision Adam."""


def zero_bytes(params: int, ranks: int, stage: int, k: int = OPTIMIZER_BYTES) -> float:
    """2 + 2 + K bytes a parameter, of which stage 1 divides K by the ranks, 2 the gradients, 3 all."""
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = k / ranks if stage >= 1 else k
    return params * (weights + gradients + optimizer)
