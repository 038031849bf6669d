"""Orders that claim their own times: a drawn grid, or a file whose columns are time slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.schedule.binding import binding_of
from scaletui_engine.schedule.check import require_valid
from scaletui_engine.schedule.needs import needs_of
from scaletui_engine.schedule.simulate import costs
from scaletui_engine.schedule.table import Table, finder_of, table_of
from scaletui_engine.schedule.times import UNIT_TIMES, Times, time_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scaletui_engine.schedule.schedule import Schedule

_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class TooEarly:
    """An action that claims to start before what it needs has ended."""

    rank: int
    action: str
    start: float
    needs: str
    of_rank: int
    available: float
    """The earliest that the awaited result, or the rank itself, is there."""

    def __str__(self) -> str:
        awaited = f"{self.needs} of rank {self.of_rank}, there at {self.available:g}"
        return f"rank {self.rank}: {self.action} starts at {self.start:g} but needs {awaited}"


def check_times(
    schedule: Schedule, starts: Sequence[Sequence[float]], times: Times = UNIT_TIMES
) -> tuple[TooEarly, ...]:
    """The actions that start too early, in time order; `starts` has one time a cell of every row.

    An action needs the one before it on its rank, and its input from another. Raises OrderError when the
    order alone is wrong.
    """
    table = table_of(schedule)
    require_valid(schedule, table)
    spread = time_table(times, schedule.stages, schedule.units)
    needs = needs_of(table, finder_of(table, schedule.stages, schedule.units), spread.comm)
    claimed = _by_action(table, np.array([time for row in starts for time in row], dtype=np.float64))
    binding = binding_of(table, needs, claimed + costs(table, spread, times, schedule.slices))
    found: list[TooEarly] = []
    for available, other in ((binding.arrival, binding.input), (binding.free, binding.previous)):
        early = np.flatnonzero((claimed < available - _TOLERANCE) & ~table.joined)
        found += [
            _too_early(table, claimed, index, (int(other[index]), float(available[index]))) for index in early
        ]
    return tuple(sorted(found, key=lambda item: (item.start, item.rank)))


def _by_action(table: Table, claimed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both actions of a pair start with their cell."""
    cell: NDArray[np.int64] = np.cumsum(~table.joined) - 1
    return np.take(claimed, cell)


def _too_early(
    table: Table, claimed: NDArray[np.float64], index: np.int64, awaited: tuple[int, float]
) -> TooEarly:
    at, (other, available) = int(index), awaited
    return TooEarly(
        rank=int(table.rank[at]),
        action=str(table.action(at)),
        start=float(claimed[at]),
        needs=str(table.action(other)),
        of_rank=int(table.rank[other]),
        available=available,
    )
