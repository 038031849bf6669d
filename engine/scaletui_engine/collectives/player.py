"""What a picture of a collective shows after each step: who has which block, and the bytes so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui_engine.collectives.step import Procedure, Transfer


@dataclass(frozen=True, slots=True)
class Frame:
    """One moment; frame 0 is before the first step."""

    index: int
    moving: tuple[Transfer, ...]
    """The messages that arrive in this frame."""
    terms: tuple[tuple[int, ...], ...]
    """For every rank and block, how many ranks' values are summed in it; 0 for nothing of use."""
    sent: tuple[int, ...]
    """Bytes that every rank has sent so far."""


@dataclass(frozen=True, slots=True)
class Player:
    """A procedure cut at every boundary between blocks."""

    procedure: Procedure
    item: int
    """Bytes an element."""
    starts: tuple[int, ...]
    """First element of every block."""
    frames: tuple[Frame, ...]


def player(procedure: Procedure, item: int, holders: tuple[frozenset[int], ...] | None = None) -> Player:
    """Frames of a procedure; `holders` says which ranks each rank's array already sums up.

    By default every rank begins with its own values in every block; a rank with an empty set begins with
    nothing of use, as all but the first do in a broadcast.
    """
    starts = _starts(procedure)
    first = holders or tuple(frozenset((rank,)) for rank in range(procedure.ranks))
    held = [[first[rank]] * len(starts) for rank in range(procedure.ranks)]
    frames = [_frame(0, (), held, (procedure, item))]
    for index, each in enumerate(procedure.steps, 1):
        before = [list(blocks) for blocks in held]
        for transfer in each.transfers:
            low, high = transfer.lands
            for number, start in enumerate(starts):
                if low <= start < high:
                    arrived = before[transfer.source][_at(starts, start - low + transfer.start)]
                    held[transfer.target][number] = (
                        held[transfer.target][number] | arrived if transfer.add else arrived
                    )
        frames.append(_frame(index, each.transfers, held, (procedure, item)))
    return Player(procedure, item, starts, tuple(frames))


def _starts(procedure: Procedure) -> tuple[int, ...]:
    cuts = {0}
    for each in procedure.steps:
        for transfer in each.transfers:
            cuts |= {transfer.start, transfer.stop, *transfer.lands}
    return tuple(sorted(cut for cut in cuts if cut < max(procedure.elements, 1)))


def _at(starts: tuple[int, ...], element: int) -> int:
    return max(index for index, start in enumerate(starts) if start <= element)


def _frame(
    index: int,
    moving: tuple[Transfer, ...],
    held: list[list[frozenset[int]]],
    what: tuple[Procedure, int],
) -> Frame:
    procedure, item = what
    terms = tuple(tuple(len(block) for block in blocks) for blocks in held)
    sent = tuple(procedure.sent(rank, index) * item for rank in range(procedure.ranks))
    return Frame(index, moving, terms, sent)
