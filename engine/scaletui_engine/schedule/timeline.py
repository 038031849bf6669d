"""The result of a simulation: when every action starts and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.binding import Binding
    from scaletui_engine.schedule.needs import Needs
    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.table import Table
    from scaletui_engine.schedule.times import Times


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Starts and ends in the unit of `times`; the indices are those of `table`."""

    schedule: Schedule
    times: Times
    table: Table
    needs: Needs
    binding: Binding
    start: NDArray[np.float64]
    end: NDArray[np.float64]

    @property
    def makespan(self) -> float:
        """From 0 to the last end of any rank."""
        return float(self.end.max())

    @property
    def first_start(self) -> NDArray[np.float64]:
        """[ranks] start of each rank's first action."""
        return self.start[self.table.row[:-1]]

    @property
    def last_end(self) -> NDArray[np.float64]:
        """[ranks] end of each rank's last action."""
        return self.end[self.table.row[1:] - 1]

    @property
    def spans(self) -> NDArray[np.float64]:
        """[ranks] from each rank's first start to its last end."""
        return self.last_end - self.first_start

    @property
    def busy(self) -> NDArray[np.float64]:
        """[ranks] time in which each rank computes; an overlapped pair counts once."""
        worked = np.where(self.table.joined, 0.0, self.end - self.start)
        return np.add.reduceat(worked, self.table.row[:-1])
