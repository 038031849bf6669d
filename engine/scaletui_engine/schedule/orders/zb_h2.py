"""ZB-H2 (Qi et al., arXiv:2401.10241, section 2.3, figure 3 bottom): no bubble where F = I = W."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import forward, input_grad, weight_grad

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """2 (ranks - 1 - rank) + 1 forwards; then I, W once 2 rank of them wait, and the next forward."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    return [_row(rank, microbatches, min(microbatches, 2 * (ranks - 1 - rank) + 1)) for rank in range(ranks)]


def _row(rank: int, microbatches: int, warmup: int) -> list[Code]:
    delay = 2 * rank
    row = [forward(rank, k) for k in range(warmup)]
    for k in range(microbatches):
        row.append(input_grad(rank, k))
        if k >= delay:
            row.append(weight_grad(rank, k - delay))
        if warmup + k < microbatches:
            row.append(forward(rank, warmup + k))
    return row + [weight_grad(rank, k) for k in range(max(0, microbatches - delay), microbatches)]
