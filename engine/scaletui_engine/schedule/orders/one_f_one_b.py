"""1F1B (PipeDream-flush, DAPPLE; Narayanan et al., arXiv:2104.04473, section 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.orders.request import require_microbatches
from scaletui_engine.schedule.orders.weave import counting, weave

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """min(microbatches, ranks - 1 - rank) forwards first."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    return [
        weave(*counting(rank, microbatches), min(microbatches, ranks - 1 - rank)) for rank in range(ranks)
    ]


def rows_torch(request: Request) -> Rows:
    """The order that PyTorch's Schedule1F1B executes; it refuses fewer microbatches than ranks."""
    require_microbatches(request, request.shape.ranks, "pipeline ranks")
    return rows(request)
