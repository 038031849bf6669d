"""Activations that are alive on a rank, over time and at their peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule.deltas import FREED_BY_WEIGHT_GRAD, Deltas, delta_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class Activations:
    """Levels by action, in the unit of the deltas.

    What an action adds is there from its start, what it frees until its end.
    """

    during: NDArray[np.float64]
    """Level on the action's rank while it runs."""
    after: NDArray[np.float64]
    """Level on the action's rank once it has ended."""
    peak: NDArray[np.float64]
    """[ranks] the highest level."""


@dataclass(frozen=True, slots=True, eq=False)
class Staircase:
    """The level of one rank over time: `level[i]` holds from `time[i]` to `time[i + 1]`."""

    time: NDArray[np.float64]
    level: NDArray[np.float64]


def activations_of(timeline: Timeline, deltas: Deltas = FREED_BY_WEIGHT_GRAD) -> Activations:
    """Levels and peaks under signed deltas; `FREED_BY_WEIGHT_GRAD` counts live chunks."""
    table = timeline.table
    change = delta_table(deltas, timeline.schedule.stages)[table.kind, table.stage] / timeline.schedule.slices
    rise, total = np.cumsum(np.maximum(change, 0.0)), np.cumsum(change)
    starts = table.row[:-1]
    base = (total - change)[starts]
    after = total - base[table.rank]
    # A pair's actions run at once: both rises are there from its start, both falls until its end.
    fall = total - rise
    before = np.concatenate(([0.0], fall[:-1]))
    first = np.arange(len(change)) - table.joined
    during = rise[table.last] + before[first] - base[table.rank]
    return Activations(during, after[table.last], np.maximum.reduceat(during, starts))


def staircase(timeline: Timeline, activations: Activations, rank: int) -> Staircase:
    """The level of one rank from 0 to the makespan, pairs counted once."""
    table = timeline.table
    index = np.arange(int(table.row[rank]), int(table.row[rank + 1]))
    cells = index[~table.joined[index]]
    time = np.stack([timeline.start[cells], timeline.end[cells]], axis=1).ravel()
    level = np.stack([activations.during[cells], activations.after[cells]], axis=1).ravel()
    return Staircase(np.concatenate(([0.0], time)), np.concatenate(([0.0], level)))
