"""One microbatch at a time: plain model parallelism, where a rank works 1 / ranks of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import backward, forward

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """F0 B0 F1 B1 ... on every rank."""
    shape = request.shape
    return [
        [code for k in range(shape.microbatches) for code in (forward(rank, k), backward(rank, k))]
        for rank in range(shape.ranks)
    ]
