"""Why an action starts when it does: its rank was busy until then, or its input arrived then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.needs import Needs
    from scaletui_engine.schedule.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One entry an action; the two actions of a pair agree."""

    previous: NDArray[np.int64]
    """Index of the action before on the same rank, `NOTHING` for the first."""
    free: NDArray[np.float64]
    """When the rank was free."""
    input: NDArray[np.int64]
    """Index of the awaited action whose result arrived last, `NOTHING` where none is awaited."""
    arrival: NDArray[np.float64]
    """When that result arrived; 0 where nothing is awaited."""

    @property
    def start(self) -> NDArray[np.float64]:
        """The later of the two."""
        return np.maximum(self.free, self.arrival)

    @property
    def decisive(self) -> NDArray[np.int64]:
        """Index of what a start waited for: the action before, unless the input came after its end."""
        return np.where(self.arrival > self.free, self.input, self.previous)


def binding_of(table: Table, needs: Needs, end: NDArray[np.float64]) -> Binding:
    """What each start waited for, given all ends; the end of a pair is its second action's."""
    index = np.arange(len(table.code))
    previous = index - 1
    previous[table.row[:-1]] = NOTHING
    second = np.flatnonzero(table.joined)
    previous[second] = previous[second - 1]
    free = np.where(previous == NOTHING, 0.0, end[previous])
    arrival = np.where(needs.action == NOTHING, 0.0, end[table.last[needs.action]] + needs.lag)
    if second.size:
        # Both actions of a pair wait for the later of their two inputs.
        later = np.where(arrival[second] > arrival[second - 1], second, second - 1)
        index[second] = index[second - 1] = later
    return Binding(previous, free, needs.action[index], arrival[index])
