"""Eager 1F1B: twice the warm-up, so that messages hide behind forwards, at twice the activations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.orders.weave import counting, weave

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """min(microbatches, 2 (ranks - 1 - rank)) forwards first (ailzhang/minPP; Alpa, arXiv:2211.05322)."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    return [
        weave(*counting(rank, microbatches), min(microbatches, 2 * (ranks - 1 - rank)))
        for rank in range(ranks)
    ]
