"""Interleaved 1F1B (Narayanan et al., arXiv:2104.04473, section 2.2), Megatron-LM's and PyTorch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import backward, forward
from scaletui_engine.schedule.orders.rounds import megatron_group, torch_group, virtual_order
from scaletui_engine.schedule.orders.weave import weave

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows
    from scaletui_engine.schedule.shape import Shape


def rows(request: Request) -> Rows:
    """Megatron-LM's order, any group that it allows."""
    return _rows(request.shape, megatron_group(request))


def rows_torch(request: Request) -> Rows:
    """PyTorch's ScheduleInterleaved1F1B, whose groups follow from the rounds."""
    return _rows(request.shape, torch_group(request))


def _rows(shape: Shape, group: int) -> Rows:
    return [weave(*tables(shape, group, rank), warmup(shape, group, rank)) for rank in range(shape.ranks)]


def tables(shape: Shape, group: int, rank: int) -> tuple[list[Code], list[Code]]:
    """Forwards and backwards of a rank; the backward table is the forward one with its chunks reversed."""
    order = virtual_order(shape.microbatches, group, shape.chunks)
    forwards = [forward(chunk * shape.ranks + rank, k) for chunk, k in order]
    last = shape.chunks - 1
    return forwards, [backward((last - chunk) * shape.ranks + rank, k) for chunk, k in order]


def warmup(shape: Shape, group: int, rank: int, factor: int = 2) -> int:
    """Forwards before the first backward: factor (ranks - 1 - rank) + (chunks - 1) group, at most all.

    Megatron-LM's factor is 2: it costs activations and pays where messages take time (Megatron-LM#169).
    """
    wanted = factor * (shape.ranks - 1 - rank) + (shape.chunks - 1) * group
    return min(wanted, shape.microbatches * shape.chunks)
