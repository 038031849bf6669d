"""GPipe (Huang et al., arXiv:1811.06965): all forwards, then all backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import backward, forward

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """As the paper's figure 2 draws it: the backwards in reverse."""
    return [
        [forward(rank, k) for k in _counting(request)]
        + [backward(rank, k) for k in reversed(_counting(request))]
        for rank in range(request.shape.ranks)
    ]


def rows_torch(request: Request) -> Rows:
    """As PyTorch's ScheduleGPipe runs it: the backwards in the order of the forwards."""
    return [
        [forward(rank, k) for k in _counting(request)] + [backward(rank, k) for k in _counting(request)]
        for rank in range(request.shape.ranks)
    ]


def _counting(request: Request) -> range:
    return range(request.shape.microbatches)
