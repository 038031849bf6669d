"""What every action waits for from another stage: the forward before it, or the gradient after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.table import Finder, Table

NOTHING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """One entry an action; what an action needs of its own stage comes earlier in its row by `check.py`."""

    action: NDArray[np.int64]
    """Index of the awaited action, `NOTHING` where none is."""
    lag: NDArray[np.float64]
    """What the message takes: 0 within a rank."""


def needs_of(table: Table, finder: Finder, comm: NDArray[np.float64]) -> Needs:
    """F waits for F of the stage before; I and B for I or B of the stage after.

    B of a stage waits for the whole B of the next, as 1F1B runs it. Awaited actions must exist.
    """
    stages = finder.forward.shape[0]
    action = np.full(len(table.code), NOTHING, dtype=np.int64)
    lag = np.zeros(len(table.code))
    forwards = np.flatnonzero((table.kind == Kind.FORWARD) & (table.stage > 0))
    action[forwards] = finder.forward[table.stage[forwards] - 1, table.microbatch[forwards]]
    lag[forwards] = comm[table.stage[forwards] - 1]
    backward = (table.kind == Kind.INPUT_GRAD) | (table.kind == Kind.BACKWARD)
    gradients = np.flatnonzero(backward & (table.stage < stages - 1))
    action[gradients] = finder.gradient[table.stage[gradients] + 1, table.microbatch[gradients]]
    lag[gradients] = comm[table.stage[gradients]]
    lag[table.rank == table.rank[action]] = 0.0
    return Needs(action, lag)
