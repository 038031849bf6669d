"""SEND and RECV: a sender puts the RECV into the receiver's row, so that both ends agree on the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import decode
from scaletui_engine.schedule.deadlock import DeadlockError, Head
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.lowering.peers import stage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.lowering.peers import Homes


class _Pass:
    """One pass over all rows: rank after rank, one cell a turn, as PyTorch's _add_send_recv goes."""

    def __init__(self, rows: list[list[Code]], homes: Homes) -> None:
        self.homes = homes
        self.cells = [list(cells_of(row)) for row in rows]
        self.position = [0] * len(rows)
        self.lowered: list[list[Code]] = [[] for _ in rows]
        self.seen: set[Code] = set()

    def turn(self) -> bool:
        """Let every rank take its next cell if its input is there; False when none could."""
        moved = False
        for rank, cells in enumerate(self.cells):
            if self.position[rank] < len(cells) and all(map(self.ready, cells[self.position[rank]])):
                self._take(rank, cells[self.position[rank]])
                self.position[rank] += 1
                moved = True
        return moved

    def ready(self, code: Code) -> bool:
        needed = needed_by(self.homes.stages, code)
        return not needed or any(other in self.seen for other in needed)

    def done(self) -> bool:
        return all(at == len(cells) for at, cells in zip(self.position, self.cells, strict=True))

    def heads(self) -> tuple[Head, ...]:
        return tuple(
            self._head(rank, cells[at])
            for rank, (at, cells) in enumerate(zip(self.position, self.cells, strict=True))
            if at < len(cells)
        )

    def _take(self, rank: int, cell: tuple[Code, ...]) -> None:
        self.lowered[rank] += cell
        for code in cell:
            self.seen.add(code & ~codes.OVERLAP_BIT)
            if message := self.homes.message(code):
                send, receive, receiver = message
                self.lowered[rank].append(send)
                self.lowered[receiver].append(receive)

    def _head(self, rank: int, cell: tuple[Code, ...]) -> Head:
        blocked = next(code for code in cell if not self.ready(code))
        other = decode(needed_by(self.homes.stages, blocked)[0])
        return Head(rank, str(decode(blocked)), str(other), self.homes.of(other.stage, other.microbatch))


def add_messages(rows: list[list[Code]], homes: Homes) -> list[list[Code]]:
    """SEND follows what produces it; RECV stands where the sender's turn puts it. Raises DeadlockError."""
    run = _Pass(rows, homes)
    while not run.done():
        if not run.turn():
            raise DeadlockError(run.heads())
    return run.lowered


def needed_by(stages: int, code: Code) -> tuple[Code, ...]:
    """The actions of which one must have run before: of the stage before a forward, or after a gradient."""
    kind, stage, microbatch = code & codes.KIND_MASK, stage_of(code), code >> codes.MICROBATCH_SHIFT
    if kind == Kind.FORWARD and stage > 0:
        return (codes.forward(stage - 1, microbatch),)
    if kind in (Kind.INPUT_GRAD, Kind.BACKWARD) and stage < stages - 1:
        return codes.input_grad(stage + 1, microbatch), codes.backward(stage + 1, microbatch)
    return ()


def cells_of(row: list[Code]) -> Iterator[tuple[Code, ...]]:
    """The cells of a row: a pair is two codes."""
    rest = iter(row)
    for code in rest:
        yield (code, next(rest)) if code & codes.OVERLAP_BIT else (code,)
