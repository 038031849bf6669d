"""ZB-V (Qi et al., arXiv:2401.10241, section 6): two chunks a rank in a V, no bubble where F = I = W."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.orders.tape import F0, F1, I0, I1, W0, W1, Tape, trimmed

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
    """PyTorch's ScheduleZBVZeroBubble: in the tail W of the first chunk, the second, the first again."""
    return [_row(request, rank, _tail_by_chunk) for rank in range(request.shape.ranks)]


def _row(request: Request, rank: int, tail: Tail) -> list[Code]:
    """Planned for at least 2 ranks - 1 microbatches, then trimmed to those there are, as PyTorch does."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    tape = Tape((rank, 2 * ranks - 1 - rank))
    planned = max(2 * ranks - 1, microbatches)
    tape.run(2 * (ranks - rank) - 1, F0)
    tape.run(rank, F1, F0)
    tape.run(ranks - rank, F1, I1, W1)
    tape.run(planned - tape.count(F0), F0, I0, W0, F1, I1, W1)
    tape.run(planned - tape.count(F1), I0, W0, F1, I1, W1)
    tail(tape, rank, ranks)
    return trimmed(tape.row, microbatches)


def _tail_by_chunk(tape: Tape, rank: int, ranks: int) -> None:
    tape.run(rank, I0, I1)
    tape.run(ranks - rank, I0, W0)
    tape.run(tape.count(I1) - tape.count(W1), W1)
    tape.run(tape.count(I0) - tape.count(W0), W0)


def _tail_in_order(tape: Tape, rank: int, ranks: int) -> None:
    tape.run(rank, I0, I1)
    waiting = [W0, W1] * rank + [W0] * (ranks - rank)
    for oldest in waiting[: ranks - rank]:
        tape.run(1, I0, oldest)
    tape.run(1, *waiting[ranks - rank :])
