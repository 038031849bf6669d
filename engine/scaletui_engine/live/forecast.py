"""How long a job's memory will last: a line through its step-end allocations, and where it meets the end."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.live.judgement import headroom
from scaletui_engine.live.once import once_a_look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.live.history import Point
    from scaletui_engine.live.snapshot import RankView

FEWEST_POINTS: Final = 20
"""Steps before which no trend is told."""
WARM_UP: Final = 3
"""First steps that are left out: the optimizer's state and the allocator's cache come into being."""
LEAST_GROWTH: Final = 1_000
"""A growth over all steps of less than one part in so many is noise."""


class Confidence(StrEnum):
    """How far the line is from chance: slope over its standard error."""

    LOW = "low"
    """4 to 10."""
    FAIR = "fair"
    """10 to 30."""
    HIGH = "high"
    """More than 30."""


@dataclass(frozen=True, slots=True)
class Trend:
    """A growth of step-end allocated memory that is not chance."""

    bytes_per_step: float
    confidence: Confidence
    steps_left: int | None
    """Steps until the room at the peak is used up; None where the room is not known."""
    seconds_left: float | None


@once_a_look
def trend_of(rank: RankView) -> Trend | None:
    """The growth of a rank, None when there is none worth a word or too few steps to tell.

    Step-end allocations are compared because they are exact and of the same moment of every step; maxima seen
    by sampling inside of a step would say more about the sampling.
    """
    points = [point for point in rank.history if point.allocated is not None][WARM_UP:]
    if len(points) < FEWEST_POINTS:
        return None
    slope, error = _line([(point.step, point.allocated or 0) for point in points])
    growth = slope * (points[-1].step - points[0].step)
    certainty = slope / error if error > 0 else float("inf")
    if slope <= 0 or certainty < 4 or growth * LEAST_GROWTH < (points[-1].allocated or 0):
        return None
    room = headroom(rank)
    steps = None if room is None else max(int(room / slope), 0)
    seconds = None if steps is None else _seconds(points, steps)
    return Trend(slope, _confidence(certainty), steps, seconds)


def _confidence(certainty: float) -> Confidence:
    if certainty >= 30:
        return Confidence.HIGH
    return Confidence.FAIR if certainty >= 10 else Confidence.LOW


def _line(points: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Slope of the least-squares line and its standard error."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return 0.0, 0.0
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    residual = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    return slope, sqrt(residual / max(count - 2, 1) / spread)


def _seconds(points: Sequence[Point], steps: int) -> float | None:
    times = [point.step_ns for point in points if point.step_ns]
    return median(times) / 1e9 * steps if times else None
