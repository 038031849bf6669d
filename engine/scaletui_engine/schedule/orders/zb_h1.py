"""ZB-H1 (Qi et al., arXiv:2401.10241, section 2.2, figure 3 top): 1F1B's memory, a third of its bubble."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.orders.split import weave_split

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """1F1B with I for B; W follows I by `rank` places, the rest come last."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    return [
        weave_split(rank, microbatches, warmup=min(microbatches, ranks - 1 - rank), delay=rank)
        for rank in range(ranks)
    ]
