"""Looped breadth-first (Lamy-Poirier, arXiv:2211.05953): all microbatches, local stage after local stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import backward, forward

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """Backwards in the order of the forwards."""
    return _rows(request, list(range(request.shape.microbatches)))


def rows_torch(request: Request) -> Rows:
    """PyTorch's ScheduleLoopedBFS: backwards in reverse."""
    return _rows(request, list(reversed(range(request.shape.microbatches))))


def _rows(request: Request, backwards: list[int]) -> Rows:
    shape = request.shape
    found: Rows = []
    for rank in range(shape.ranks):
        local = range(rank, shape.stages, shape.ranks)
        row = [forward(stage, k) for stage in local for k in range(shape.microbatches)]
        found.append(row + [backward(stage, k) for stage in reversed(local) for k in backwards])
    return found
