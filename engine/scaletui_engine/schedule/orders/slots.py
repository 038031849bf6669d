"""Actions in slots of one unit: which rank does what when, and what it holds while it does."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.schedule.code import KIND_MASK, MICROBATCH_SHIFT, STAGE_MASK, STAGE_SHIFT
from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from scaletui_engine.schedule.code import Code

    Row: TypeAlias = dict[int, Code]
    """Slot to action."""

_NEXT_STAGE: Final = 1 << STAGE_SHIFT
_NEXT_MICROBATCH: Final = 1 << MICROBATCH_SHIFT


def input_of(code: Code, stages: int) -> Code | None:
    """The action whose result an F, I or W of a split schedule takes; None for the first stage's F."""
    kind, stage = code & KIND_MASK, (code >> STAGE_SHIFT) & STAGE_MASK
    if kind == Kind.FORWARD:
        return code - _NEXT_STAGE if stage else None
    if kind == Kind.INPUT_GRAD and stage < stages - 1:
        return code + _NEXT_STAGE
    return code - 1  # I of the last stage takes its F, and W its I: kinds are 0, 1 and 2


class Slots:
    """The slots of all ranks, with what is held, what is free, and where every action stands.

    A chunk is held from the slot of its F to that of its W, both included.
    """

    def __init__(self, rows: list[Row], limit: int) -> None:
        """`rows`: slot to action, one a rank. `limit`: most chunks that a rank may hold."""
        self.rows = rows
        self.limit = limit
        self.stages = 2 * len(rows)
        self.at: dict[Code, int] = {code: slot for row in rows for slot, code in row.items()}
        count = 1 + max(self.at.values())
        self.held = [_levels(row, count) for row in rows]
        self.free: list[list[int]] = [[slot for slot in range(count) if slot not in row] for row in rows]

    def rank(self, code: Code) -> int:
        """The rank of an action's stage, in a V."""
        stage = (code >> STAGE_SHIFT) & STAGE_MASK
        return min(stage, self.stages - 1 - stage)

    def earliest(self, code: Code) -> int:
        """The slot after its input, and after the same action of the microbatch before."""
        before = (input_of(code, self.stages), code - _NEXT_MICROBATCH)
        return 1 + max(self.at.get(other, -1) for other in before if other is not None)

    def pull(self, code: Code) -> None:
        """To the first free slot that its input and the memory allow."""
        rank, slot, kind = self.rank(code), self.at[code], code & KIND_MASK
        free, held = self.free[rank], self.held[rank]
        place = bisect_left(free, self.earliest(code))
        if kind == Kind.FORWARD and place < len(free) and free[place] < slot:
            place = bisect_left(free, _with_room(held, free[place], slot, self.limit), place)
        if place == len(free) or free[place] > slot:
            return
        target = free.pop(place)
        insort(free, slot)
        if kind == Kind.FORWARD:
            held[target:slot] += 1
        elif kind == Kind.WEIGHT_GRAD:
            held[target + 1 : slot + 1] -= 1
        self.rows[rank][target] = self.rows[rank].pop(slot)
        self.at[code] = target


def _levels(row: Row, count: int) -> NDArray[np.int64]:
    change = np.zeros(count + 1, dtype=np.int64)
    for slot, code in row.items():
        change[slot] += code & KIND_MASK == Kind.FORWARD
        change[slot + 1] -= code & KIND_MASK == Kind.WEIGHT_GRAD
    return np.cumsum(change[:-1])


def _with_room(held: NDArray[np.int64], first: int, slot: int, limit: int) -> int:
    """The slot, `first` or later, from which on one chunk more could be held until `slot`."""
    full = np.flatnonzero(held[first:slot] >= limit)
    return first + int(full[-1]) + 1 if full.size else first
