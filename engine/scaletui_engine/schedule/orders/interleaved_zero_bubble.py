"""PyTorch's ScheduleInterleavedZeroBubble: ZB-1P of arXiv:2401.10241 over several chunks a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import forward, input_grad, weight_grad
from scaletui_engine.schedule.orders.interleaved import warmup
from scaletui_engine.schedule.orders.rounds import torch_group, virtual_order

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows
    from scaletui_engine.schedule.shape import Shape


def rows(request: Request) -> Rows:
    """The interleaved order with a warm-up factor of 1; W follows I by `rank` places."""
    group = torch_group(request)
    return [_row(request.shape, group, rank) for rank in range(request.shape.ranks)]


def _row(shape: Shape, group: int, rank: int) -> list[Code]:
    order = virtual_order(shape.microbatches, group, shape.chunks)
    forwards = [(chunk * shape.ranks + rank, k) for chunk, k in order]
    backwards = [((shape.chunks - 1 - chunk) * shape.ranks + rank, k) for chunk, k in order]
    first = warmup(shape, group, rank, factor=1)
    row = [forward(*place) for place in forwards[:first]]
    for index, place in enumerate(backwards):
        if first + index < len(forwards):
            row.append(forward(*forwards[first + index]))
        row.append(input_grad(*place))
        if index >= rank:
            row.append(weight_grad(*backwards[index - rank]))
    return row + [weight_grad(*place) for place in backwards[max(0, len(backwards) - rank) :]]
