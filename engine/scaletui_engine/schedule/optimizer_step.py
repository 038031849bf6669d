"""The optimizer step after a pipeline: every rank on its own, or all after a global reduction."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class OptimizerStep:
    """When each rank updates, and how long a training step takes in a long run of them."""

    start: NDArray[np.float64]
    """[ranks]"""
    end: NDArray[np.float64]
    """[ranks]"""
    period: float
    """From one step to the next."""


def optimizer_step(timeline: Timeline, duration: float, synchronised: bool) -> OptimizerStep:
    """Synchronised: a norm or an overflow check of all ranks comes first, so all start at the makespan.

    Else each rank updates after its own last action and goes on (post-validation, arXiv:2401.10241,
    section 4): ranks keep their stagger, and the longest span decides the period.
    """
    if not (isfinite(duration) and duration >= 0):
        raise ValueRangeError(f"optimizer step time {duration:g} is not a number of at least 0")
    if synchronised:
        start = np.full(timeline.schedule.ranks, timeline.makespan)
        return OptimizerStep(start, start + duration, timeline.makespan + duration)
    start = timeline.last_end
    return OptimizerStep(start, start + duration, float(timeline.spans.max()) + duration)
