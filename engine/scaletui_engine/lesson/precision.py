"""Mixed precision: the lesson's three totals, and every recipe by its bytes a parameter."""

from __future__ import annotations

from typing import TypedDict


class PrecisionTotals(TypedDict):
    """What the lesson's comparison returns, in GB of 1e9 bytes."""

    fp32_total_gb: float
    fp16_with_master_gb: float
    mixed_bf16_gb: float
    savings_vs_fp32: float


def mixed_precision_comparison(params_billions: float) -> PrecisionTotals:
    """The lesson's totals of weights, gradients and Adam's moments.

    `mixed_bf16_gb` counts 2 + 2 + 8 bytes a parameter: no master weights.
    """
    params = params_billions * 1e9
    fp32 = params * 4 + params * 4 * 2 + params * 4
    with_master = params * 2 + params * 4 + params * 4 * 2 + params * 2
    mixed = params * 2 + params * 4 * 2 + params * 2
    return {
        "fp32_total_gb": fp32 / 1e9,
        "fp16_with_master_gb": with_master / 1e9,
        "mixed_bf16_gb": mixed / 1e9,
        "savings_vs_fp32": 1 - mixed / fp32,
    }


class Recipes(TypedDict):
    """Weights, gradients, optimizer and master weights of one model, in GB of 1e9 bytes."""

    fp32_gb: float
    mixed_gb: float
    """With the fp32 master weights that Adam needs: 2 + 2 + 4 + 8 bytes a parameter."""
    pure_bf16_gb: float
    savings_vs_fp32: float
    """Of mixed precision: none. What it saves is time and activations."""


def corrected_precision(params_billions: float) -> Recipes:
    """Recipes with nothing left out: 16, 16, 8 bytes a parameter (ZeRO, arXiv:1910.02054, section 3.1)."""
    return {
        "fp32_gb": params_billions * (4 + 4 + 8),
        "mixed_gb": params_billions * (2 + 2 + 4 + 8),
        "pure_bf16_gb": params_billions * (2 + 2 + 4),
        "savings_vs_fp32": 0.0,
    }
