"""A schedule as flat arrays: one entry an action, rank after rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import Action, decode
from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length; `row[r] : row[r + 1]` are the actions of rank r, in order."""

    code: NDArray[np.int64]
    kind: NDArray[np.int64]
    stage: NDArray[np.int64]
    microbatch: NDArray[np.int64]
    rank: NDArray[np.int64]
    row: NDArray[np.int64]
    """[ranks + 1] offsets."""
    joined: NDArray[np.bool_]
    """The action is the second of an overlapped pair: it starts and ends with the one before it."""
    last: NDArray[np.int64]
    """Index of the last action of the same cell: itself, or the second of its pair."""

    def action(self, index: int) -> Action:
        """The action at an index."""
        return decode(int(self.code[index]))

    def cell(self, index: int) -> int:
        """Number of the action's cell in its row, a pair counting once."""
        first = int(self.row[self.rank[index]])
        return int(np.count_nonzero(~self.joined[first : index + 1])) - 1


def table_of(schedule: Schedule) -> Table:
    """The columns of a schedule."""
    sizes = [len(row) for row in schedule.rows]
    code = np.concatenate(schedule.rows) if schedule.rows else np.empty(0, dtype=np.int64)
    overlaps = (code & codes.OVERLAP_BIT) != 0
    joined = np.zeros(len(code), dtype=np.bool_)
    joined[1:] = overlaps[:-1]
    return Table(
        code=code,
        kind=codes.kinds(code),
        stage=codes.stages(code),
        microbatch=codes.microbatches(code),
        rank=np.repeat(np.arange(len(sizes)), sizes),
        row=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        joined=joined,
        last=np.arange(len(code)) + overlaps,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Finder:
    """Where the compute actions of a stage and microbatch are; -1 where there is none."""

    forward: NDArray[np.int64]
    """[stages, microbatches] index of F."""
    gradient: NDArray[np.int64]
    """[stages, microbatches] index of I or B."""
    weight: NDArray[np.int64]
    """[stages, microbatches] index of W or B."""


def finder_of(table: Table, stages: int, microbatches: int) -> Finder:
    """Every stage and microbatch of the table must be in range; the last of repeated actions counts."""
    return Finder(
        forward=_positions(table, (stages, microbatches), (Kind.FORWARD,)),
        gradient=_positions(table, (stages, microbatches), (Kind.INPUT_GRAD, Kind.BACKWARD)),
        weight=_positions(table, (stages, microbatches), (Kind.WEIGHT_GRAD, Kind.BACKWARD)),
    )


def _positions(table: Table, size: tuple[int, int], kinds: tuple[Kind, ...]) -> NDArray[np.int64]:
    found = np.full(size, -1, dtype=np.int64)
    wanted = np.zeros(len(Kind), dtype=np.bool_)
    wanted[list(kinds)] = True
    index = np.flatnonzero(wanted[table.kind])
    found[table.stage[index], table.microbatch[index]] = index
    return found
