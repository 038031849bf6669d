"""Seq1F1B (Sun et al., arXiv:2406.03488): 1F1B over slices of a sequence, backwards from the last slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import backward, forward
from scaletui_engine.schedule.orders.weave import weave

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


def rows(request: Request) -> Rows:
    """ranks - rank - 2 + slices forwards first; action numbers are microbatch x slices + slice."""
    slices = request.choices.slices
    ranks, units = request.shape.ranks, request.shape.microbatches * slices
    backwards = [k * slices + s for k in range(request.shape.microbatches) for s in reversed(range(slices))]
    return [
        weave(
            [forward(rank, unit) for unit in range(units)],
            [backward(rank, unit) for unit in backwards],
            min(ranks - rank - 2 + slices, units),
        )
        for rank in range(ranks)
    ]
