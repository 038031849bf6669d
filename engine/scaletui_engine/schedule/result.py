"""Everything that one simulation says, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.schedule.activations import Activations, activations_of
from scaletui_engine.schedule.bubble import Bubble, bubble_of
from scaletui_engine.schedule.critical_path import critical_path
from scaletui_engine.schedule.deltas import FREED_BY_INPUT_GRAD, FREED_BY_WEIGHT_GRAD, Deltas
from scaletui_engine.schedule.idle import IdleIntervals, idle_intervals
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import UNIT_TIMES, Times

if TYPE_CHECKING:
    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A timeline and what follows from it."""

    timeline: Timeline
    bubble: Bubble
    idle: IdleIntervals
    critical_path: tuple[int, ...]
    activations: Activations
    """Live chunks, freed by W or B."""
    early_activations: Activations
    """Live chunks, freed by I or B."""
    memory: Activations
    """In the unit of the deltas that were asked for."""


def evaluate(schedule: Schedule, times: Times = UNIT_TIMES, deltas: Deltas = FREED_BY_WEIGHT_GRAD) -> Result:
    """Simulate and derive everything. Raises what `simulate` raises."""
    return result_of(simulate(schedule, times), deltas)


def result_of(timeline: Timeline, deltas: Deltas = FREED_BY_WEIGHT_GRAD) -> Result:
    """Everything that follows from a timeline."""
    chunks = activations_of(timeline)
    return Result(
        timeline=timeline,
        bubble=bubble_of(timeline),
        idle=idle_intervals(timeline),
        critical_path=critical_path(timeline),
        activations=chunks,
        early_activations=activations_of(timeline, FREED_BY_INPUT_GRAD),
        memory=chunks if deltas is FREED_BY_WEIGHT_GRAD else activations_of(timeline, deltas),
    )
