"""The automatic zero-bubble search under a memory limit (Qi et al., arXiv:2401.10241, section 3.1).

The paper's heuristic, not its integer program: warm up with as many forwards as fit before the first
backward, then one forward and one I in turn, and spend W on the gaps. Three choices are tried both ways
and the shortest span wins. With a limit of 1 x ranks it is the paper's ZB-1p, with 2 x ranks ZB-2p.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.schedule.code import forward, input_grad, weight_grad
from scaletui_engine.schedule.orders.zb_board import INPUT, Board, F, Memory, W
from scaletui_engine.schedule.times import time_table

if TYPE_CHECKING:
    from scaletui_engine.schedule.orders.request import Request, Rows


MAX_PLACES: Final = 1 << 17
"""Ranks x microbatches that are searched: some seconds."""


@dataclass(frozen=True, slots=True)
class _Style:
    """The three choices of the heuristic."""

    late_first: bool
    """Stop the warm-up before a forward would delay the first I."""
    backward_first: bool
    """Skip a forward when an I of the next rank is about to arrive."""
    greedy: bool
    """Place a W in every gap, also one that it overfills."""


def rows(request: Request) -> Rows:
    """Raises ValueRangeError for a memory limit below one microbatch, or a pipeline too large to search."""
    places = request.shape.ranks * request.shape.microbatches
    if places > MAX_PLACES:
        raise ValueRangeError(
            f"zb-auto tries {places} places (ranks x microbatches) eight ways: more than {MAX_PLACES}",
            f"{MAX_PLACES // request.shape.ranks} microbatches",
        )
    return _rows(_best(request))


def _best(request: Request) -> Board:
    """The first of the shortest; no style is shorter than one in which some rank never waits."""
    styles = (_Style(*style) for style in product((True, False), repeat=3))
    best = _search(request, next(styles))
    for style in styles:
        if best.span() <= best.busy():
            break
        best = min(best, _search(request, style), key=Board.span)
    return best


def memory_of(request: Request) -> Memory:
    """The limit and what I and W free: half each, as the paper's M_W = M_B / 2, unless chosen otherwise."""
    limit = request.choices.memory_limit
    if limit is None:
        limit = 2.0 * request.shape.ranks
    if not limit >= 1:
        raise ValueRangeError(f"memory limit {limit:g} < 1 microbatch", "1")
    freed = request.choices.freed_by_input_grad
    return Memory(limit, (1.0, -freed, freed - 1.0))


def _search(request: Request, style: _Style) -> Board:
    table = time_table(request.times, request.shape.ranks, request.shape.microbatches)
    board = Board(table, request.shape.microbatches, memory_of(request))
    _warm_up(board, style)
    for _ in range(1, board.microbatches):
        _forward_round(board, style)
        _backward_round(board, style)
    for rank in range(board.ranks):
        while board.has_weight_grad(rank):
            board.place(W, rank)
    return board


def _warm_up(board: Board, style: _Style) -> None:
    for rank in range(board.ranks):
        board.make_room(F, rank)
        board.place(F, rank)
    extra = _extra_forwards(board, style)
    for rank, count in enumerate(extra):
        for _ in range(count):
            board.place(F, rank)
    for rank in reversed(range(board.ranks)):
        board.place(INPUT, rank)


def _extra_forwards(board: Board, style: _Style) -> list[int]:
    """Forwards that fit into memory and time before the first I comes back, fewer on each later rank."""
    ranks = board.ranks
    extra = [0] * ranks
    arrives = board.clock[-1] + board.cost[INPUT][-1]
    for rank in reversed(range(ranks - 1)):
        arrives += board.comm[rank]
        held, clock = board.held[rank] + board.memory.needed(F), board.clock[rank]
        while 1 + extra[rank] < board.microbatches and held <= board.memory.limit + 1e-9:
            if (clock + board.cost[F][rank] > arrives) if style.late_first else (clock >= arrives):
                break
            held, clock, extra[rank] = (
                held + board.memory.deltas[F],
                clock + board.cost[F][rank],
                extra[rank] + 1,
            )
        arrives = max(clock, arrives) + board.cost[INPUT][rank]
    for rank in range(1, ranks):
        extra[rank] = min(extra[rank], extra[rank - 1])
        while extra[rank - 1] <= extra[rank] and 0 < extra[rank] < board.microbatches - 1:
            extra[rank] -= 1
    return extra


def _forward_round(board: Board, style: _Style) -> None:
    wanted = [board.count[F][rank] < board.microbatches for rank in range(board.ranks)]
    if style.backward_first:
        for rank in range(board.ranks - 1):
            wanted[rank] = wanted[rank] and not _yields(board, rank)
    for rank in reversed(range(board.ranks - 1)):
        wanted[rank] = wanted[rank] and wanted[rank + 1]
    for rank in range(board.ranks):
        if wanted[rank]:
            board.make_room(F, rank)
            if rank > 0:
                board.fill(F, rank, style.greedy)
            board.place(F, rank)


def _yields(board: Board, rank: int) -> bool:
    """Whether a rank that is two forwards ahead should wait for the next rank's I instead of running on."""
    after = rank + 1
    if board.count[F][rank] < board.count[F][after] + 2:
        return False
    arrives = board.clock[after] + board.cost[F][after] + board.cost[INPUT][after] + board.comm[rank]
    if board.clock[rank] >= arrives:
        return True
    if board.clock[rank] + board.cost[F][rank] + _time_to_make_room(board, rank) <= arrives:
        return False
    return arrives - board.clock[rank] <= max(board.idle) - board.idle[rank]


def _time_to_make_room(board: Board, rank: int) -> float:
    """What the W cost that one more forward needs."""
    held, pending = board.held[rank] + board.memory.needed(F), board.count[INPUT][rank] - board.count[W][rank]
    count = 0
    while held > board.memory.limit + 1e-9 and count < pending:
        held, count = held + board.memory.deltas[W], count + 1
    return count * board.cost[W][rank]


def _backward_round(board: Board, style: _Style) -> None:
    for rank in reversed(range(board.ranks)):
        board.make_room(INPUT, rank)
        if rank < board.ranks - 1:
            board.fill(INPUT, rank, style.greedy)
        if rank == 0 and board.count[F][rank] == board.microbatches:
            while board.has_weight_grad(rank):
                board.place(W, rank)
        board.place(INPUT, rank)


def _rows(board: Board) -> Rows:
    makes = (forward, input_grad, weight_grad)
    found: Rows = []
    for rank, order in enumerate(board.order):
        counts = [0, 0, 0]
        row: list[int] = []
        for kind in order:
            row.append(makes[kind](rank, counts[kind]))
            counts[kind] += 1
        found.append(row)
    return found
