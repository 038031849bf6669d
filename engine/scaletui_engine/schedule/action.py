"""Actions and overlapped pairs as people read them; `code.py` holds them as integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scaletui_engine.schedule.code import Code

NO_MICROBATCH: Final = -1
"""The microbatch of an action that belongs to a whole stage: UNSHARD, RESHARD, REDUCE_GRAD."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of one stage."""

    stage: int
    kind: Kind
    microbatch: int = NO_MICROBATCH

    def __str__(self) -> str:
        number = "" if self.microbatch == NO_MICROBATCH else str(self.microbatch)
        return f"{self.stage}{self.kind.letter}{number}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A forward and a backward of different microbatches that run as one (PyTorch's OVERLAP_F_B)."""

    forward: Action
    backward: Action

    def __str__(self) -> str:
        return f"({self.forward};{self.backward})OVERLAP_F_B"


Step: TypeAlias = "Action | Pair"
"""What one cell of a schedule holds."""


def decode(code: Code) -> Action:
    """The action of a code, its overlap bit set aside."""
    kind = Kind(code & codes.KIND_MASK)
    return Action((code >> codes.STAGE_SHIFT) & codes.STAGE_MASK, kind, code >> codes.MICROBATCH_SHIFT)


def decode_row(row: Iterable[Code]) -> Iterator[Step]:
    """The cells of a row of codes."""
    row = iter(row)
    for code in row:
        if code & codes.OVERLAP_BIT:
            yield Pair(decode(code), decode(next(row)))
        else:
            yield decode(code)


def leaves(step: Step) -> tuple[Action, ...]:
    """The actions of a cell: one, or the forward and the backward of a pair."""
    return (step.forward, step.backward) if isinstance(step, Pair) else (step,)
