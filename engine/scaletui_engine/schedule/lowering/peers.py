"""Who sends what to whom: the messages of an action, and the ranks at their two ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.table import table_of

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.schedule import Schedule

_MATES: Final = {
    Kind.SEND_F: (Kind.RECV_F, 1),
    Kind.RECV_F: (Kind.SEND_F, -1),
    Kind.SEND_B: (Kind.RECV_B, -1),
    Kind.RECV_B: (Kind.SEND_B, 1),
}
"""The other end of a message, and how many stages on it is."""


@dataclass(frozen=True, slots=True)
class Homes:
    """Where each microbatch meets each stage: by the rows, for a model held twice has two ranks a stage."""

    rank: tuple[tuple[int, ...], ...]
    """[stages][microbatches]"""

    @property
    def stages(self) -> int:
        """Stages of the model."""
        return len(self.rank)

    def of(self, stage: int, microbatch: int) -> int:
        """The rank that runs a stage for a microbatch."""
        return self.rank[stage][microbatch]

    def peer(self, code: Code) -> int:
        """The rank at the other end of a SEND or RECV."""
        mate = mate_of(code)
        return self.of(stage_of(mate), mate >> codes.MICROBATCH_SHIFT)

    def message(self, code: Code) -> tuple[Code, Code, int] | None:
        """(SEND, RECV, receiving rank) of what a forward, I or B yields for another rank, if anything."""
        kind, stage, microbatch = code & codes.KIND_MASK, stage_of(code), code >> codes.MICROBATCH_SHIFT
        ahead = kind == Kind.FORWARD
        if not (ahead or kind in (Kind.INPUT_GRAD, Kind.BACKWARD)):
            return None
        other = stage + 1 if ahead else stage - 1
        if not 0 <= other < self.stages or self.of(other, microbatch) == self.of(stage, microbatch):
            return None
        send = codes.encode(Kind.SEND_F if ahead else Kind.SEND_B, stage, microbatch)
        return send, mate_of(send), self.of(other, microbatch)


def homes_of(schedule: Schedule) -> Homes:
    """The ranks of all forwards; a microbatch without one is at the first rank of its stage."""
    table = table_of(schedule)
    rank = [[ranks[0]] * schedule.units for ranks in schedule.placement.ranks_of]
    forwards = table.kind == Kind.FORWARD
    columns = (table.stage[forwards], table.microbatch[forwards], table.rank[forwards])
    for stage, microbatch, where in zip(*(column.tolist() for column in columns), strict=True):
        rank[stage][microbatch] = where
    return Homes(tuple(map(tuple, rank)))


def stage_of(code: Code) -> int:
    """Stage of a code."""
    return (code >> codes.STAGE_SHIFT) & codes.STAGE_MASK


def mate_of(code: Code) -> Code:
    """The RECV of a SEND, the SEND of a RECV."""
    mate, step = _MATES[Kind(code & codes.KIND_MASK)]
    return codes.encode(mate, stage_of(code) + step, code >> codes.MICROBATCH_SHIFT)
