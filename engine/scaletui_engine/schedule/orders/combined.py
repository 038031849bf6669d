"""Megatron-LM's combined 1F1B (megatron/core/pipeline_parallel/combined_1f1b.py).

It hides the all-to-all of experts behind the other pass: interleaved 1F1B with one more forward in the
warm-up, so that the forward and the backward of every pair belong to different microbatches and can run
layer by layer beside each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import overlapped
from scaletui_engine.schedule.orders.interleaved import tables, warmup
from scaletui_engine.schedule.orders.rounds import megatron_group

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows
    from scaletui_engine.schedule.shape import Shape


def rows(request: Request) -> Rows:
    """Warm-up of 2 (ranks - 1 - rank) + (chunks - 1) group + 1 forwards, then overlapped pairs."""
    group = megatron_group(request)
    return [_row(request.shape, group, rank) for rank in range(request.shape.ranks)]


def _row(shape: Shape, group: int, rank: int) -> list[Code]:
    forwards, backwards = tables(shape, group, rank)
    first = min(warmup(shape, group, rank) + 1, len(forwards))
    row = forwards[:first]
    for pair in zip(forwards[first:], backwards, strict=False):
        row += overlapped(*pair)
    return row + backwards[len(forwards) - first :]
