"""ZB-V (Qi et al., arXiv:2401.10241, section 6): two chunks a rank in a V, no bubble where F = I = W."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.code import forward, input_grad, weight_grad
from scaletui_engine.schedule.orders.tape import Tape, trimmed

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows

    Tail: TypeAlias = Callable[[Tape, int, int], None]


def rows(request: Request) -> Rows:
    """Figure 8: in the tail a W takes the oldest I of either chunk."""
    return [_row(request, rank, _tail_in_order) for rank in range(request.shape.ranks)]


def rows_torch(request: Request) -> Rows:
    """PyTorch's ScheduleZBVZeroBubble: in the tail W of the first chunk, the second, then the first's rest."""
    return [_row(request, rank, _tail_by_chunk) for rank in range(request.shape.ranks)]


def _row(request: Request, rank: int, tail: Tail) -> list[Code]:
    """Planned for at least 2 ranks - 1 microbatches, then trimmed to those there are, as PyTorch does."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    tape = Tape((rank, 2 * ranks - 1 - rank))
    planned = max(2 * ranks - 1, microbatches)
    tape.run(2 * (ranks - rank) - 1, (forward, 0))
    tape.run(rank, (forward, 1), (forward, 0))
    tape.run(ranks - rank, (forward, 1), (input_grad, 1), (weight_grad, 1))
    while tape.count(forward, 1) < planned:
        if tape.count(forward, 0) < planned:
            tape.run(1, (forward, 0))
        tape.run(1, (input_grad, 0), (weight_grad, 0))
        tape.run(1, (forward, 1), (input_grad, 1), (weight_grad, 1))
    tail(tape, rank, ranks)
    return trimmed(tape.row, microbatches)


def _tail_by_chunk(tape: Tape, rank: int, ranks: int) -> None:
    tape.run(rank, (input_grad, 0), (input_grad, 1))
    tape.run(ranks - rank, (input_grad, 0), (weight_grad, 0))
    tape.run(tape.pending(1), (weight_grad, 1))
    tape.run(tape.pending(0), (weight_grad, 0))


def _tail_in_order(tape: Tape, rank: int, ranks: int) -> None:
    tape.run(rank, (input_grad, 0), (input_grad, 1))
    waiting = [chunk for _ in range(rank) for chunk in (0, 1)] + [0] * (ranks - rank)
    for chunk in waiting[: ranks - rank]:
        tape.run(1, (input_grad, 0), (weight_grad, chunk))
    for chunk in waiting[ranks - rank :]:
        tape.run(1, (weight_grad, chunk))
