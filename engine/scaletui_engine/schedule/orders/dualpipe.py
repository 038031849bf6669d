"""DualPipe and DualPipeV (DeepSeek-V3, arXiv:2412.19437; deepseek-ai/DualPipe dualpipe.py, dualpipev.py).

Both run the same eight steps between two flows of microbatches. In DualPipe they enter at the two ends
of a pipeline that holds the model twice; in DualPipeV they are the two arms of a V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.schedule.orders.request import require_even, require_microbatches
from scaletui_engine.schedule.orders.tape import B0, B1, F0, F1, I0, I1, Tape

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.orders.request import Request, Rows


@dataclass(frozen=True, slots=True)
class _Flow:
    """Where a rank stands: `depth` ranks from the end where flow 0 enters, of `half` such depths."""

    depth: int
    half: int
    microbatches: int
    """Of one flow."""
    stages: tuple[int, int]
    first: tuple[int, int] = (0, 0)
    """The first microbatch of each flow."""


def rows(request: Request) -> Rows:
    """DualPipe: ranks and microbatches even, at least two a rank; half of them enter at the last rank."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    require_even(request, "ranks", ranks)
    require_microbatches(request, 2 * ranks, "2 x ranks")
    require_even(request, "microbatches", microbatches)
    return [_row(_two_ways(rank, ranks, microbatches // 2)) for rank in range(ranks)]


def rows_v(request: Request) -> Rows:
    """DualPipeV, PyTorch's ScheduleDualPipeV too: at least as many microbatches as stages."""
    ranks, microbatches = request.shape.ranks, request.shape.microbatches
    require_microbatches(request, 2 * ranks, "2 x ranks")
    flows = (_Flow(rank, ranks, microbatches, (rank, 2 * ranks - 1 - rank)) for rank in range(ranks))
    return [_row(flow) for flow in flows]


def _two_ways(rank: int, ranks: int, microbatches: int) -> _Flow:
    depth = min(rank, ranks - 1 - rank)
    first = (0, microbatches) if rank < ranks // 2 else (microbatches, 0)
    return _Flow(depth, ranks // 2, microbatches, (depth, ranks - 1 - depth), first)


def _row(flow: _Flow) -> list[Code]:
    """The steps of the reference, numbered as there."""
    rest = flow.half - flow.depth - 1
    tape = Tape(flow.stages, flow.first)
    tape.run(2 * rest, F0)  # 1: F0
    tape.run(flow.depth + 1, F0, F1)  # 2: F0 F1
    for _ in range(rest):  # 3: I1 W1 F1
        tape.run(1, I1)
        tape.oldest_weight_grad()
        tape.run(1, F1)
    _main(tape, flow, rest)  # 4: F0&B1 F1&B0
    for _ in range(rest):  # 5: B1 F1&B0
        tape.run(1, B1)
        tape.overlap(F1, B0)
    _drain(tape, flow.depth + 1)  # 6: B1 B0, the second half of them split
    for _ in range(rest):  # 7: W I0
        tape.oldest_weight_grad()
        tape.run(1, I0)
    for _ in range(flow.depth + 1):  # 8: W
        tape.oldest_weight_grad()
    return tape.row


def _main(tape: Tape, flow: _Flow, rest: int) -> None:
    for index in range(flow.microbatches - 2 * flow.half + flow.depth + 1):
        if index == 0 and rest == 0:
            # Apart, so that the other flow's backward leaves the turning rank a forward earlier.
            tape.run(1, F0, B1)
        else:
            tape.overlap(F0, B1)
        tape.overlap(F1, B0)


def _drain(tape: Tape, pairs: int) -> None:
    """Backwards 1 0 1 0 ...: split from the middle on, at a chunk that the parity of the depth decides."""
    whole = 2 * (pairs // 2) + pairs % 2
    for index in range(2 * pairs):
        tape.run(1, ((B1, B0) if index < whole else (I1, I0))[index % 2])
