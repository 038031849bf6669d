"""Model states as the ZeRO paper counts them (arXiv:1910.02054, section 3.1 and figure 1)."""

from __future__ import annotations

OPTIMIZER_BYTES = 12
"""K: fp32 weights, momentum and variance of mixed-precision Adam."""


def zero_bytes(params: int, ranks: int, stage: int, k: int = OPTIMIZER_BYTES) -> float:
    """2 + 2 + K bytes a parameter, of which stage 1 divides K by the ranks, 2 the gradients, 3 all."""
    return sum(sharded_parts((2 * params, 2 * params, k * params), stage, ranks))


def sharded_parts(sizes: tuple[int, int, int], stage: int, ranks: int) -> tuple[float, float, float]:
    """(weights, gradients, optimizer) of one rank, each divided by the ranks from stage 3, 2 and 1 on."""
    weights, gradients, optimizer = sizes
    return (
        weights / (ranks if stage >= 3 else 1),
        gradients / (ranks if stage >= 2 else 1),
        optimizer / (ranks if stage >= 1 else 1),
    )
