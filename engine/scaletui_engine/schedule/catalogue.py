"""Every schedule for one pipeline, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import DivisibilityError, ScenarioError
from scaletui_engine.schedule.activations import activations_of
from scaletui_engine.schedule.bubble import Bubble, bubble_of
from scaletui_engine.schedule.orders.request import DEFAULT_CHOICES, Request
from scaletui_engine.schedule.registry import build, entry, schedule_names
from scaletui_engine.schedule.shape import Choices, Shape
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import UNIT_TIMES, Times
from scaletui_engine.schedule.weights import model_copies

if TYPE_CHECKING:
    from collections.abc import Iterable


class Basis(StrEnum):
    """What stays the same when schedules with different chunks are compared."""

    RANKS = "ranks"
    """The devices: a chunk of a schedule with v chunks a rank is 1 / v of a rank's layers."""
    STAGES = "stages"
    """The stages: a schedule with v chunks a rank runs on 1 / v of the devices."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What to compare: a pipeline with one chunk a rank, and the times of its whole stages."""

    ranks: int
    microbatches: int
    chunks: int = 2
    """Of schedules that take any number."""
    times: Times = UNIT_TIMES
    basis: Basis = Basis.RANKS
    choices: Choices = DEFAULT_CHOICES


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One schedule, or why it refuses."""

    name: str
    refusal: str | None = None
    ranks: int = 0
    chunks: int = 0
    makespan: float = 0.0
    max_span: float = 0.0
    bubble: Bubble | None = None
    peak: float = 0.0
    """Highest live activations of a rank, in microbatches of a rank's layers in the base pipeline."""
    copies: float = 0.0
    """Weights in the pipeline over the weights of one model."""


def catalogue(comparison: Comparison, names: Iterable[str] | None = None) -> tuple[CatalogueRow, ...]:
    """One row a schedule, in the order named, or why it cannot run. Raises UnknownNameError."""
    wanted = schedule_names() if names is None else tuple(entry(name).name for name in names)
    return tuple(_row(comparison, name) for name in wanted)


def request_of(comparison: Comparison, name: str) -> Request:
    """What one schedule is asked for. Raises DivisibilityError when its chunks do not divide the stages."""
    found = entry(name)
    low, high = found.chunks
    chunks = max(low, min(comparison.chunks, high or comparison.chunks))
    if comparison.basis is Basis.RANKS:
        shape = Shape(comparison.ranks, comparison.microbatches, chunks)
        return Request(name, shape, comparison.choices, scaled(comparison.times, 1.0 / chunks))
    if comparison.ranks % chunks:
        raise DivisibilityError(
            f"{comparison.ranks} stages / {chunks} chunks = {comparison.ranks / chunks:g}, not whole ranks"
        )
    shape = Shape(comparison.ranks // chunks, comparison.microbatches, chunks)
    return Request(name, shape, comparison.choices, comparison.times)


def scaled(times: Times, factor: float) -> Times:
    """Every compute time times a factor; messages stay as they are."""

    def each(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(value * factor for value in values)

    return replace(
        times,
        forward=each(times.forward),
        input_grad=each(times.input_grad),
        weight_grad=each(times.weight_grad),
        backward=None if times.backward is None else each(times.backward),
        overlapped=None if times.overlapped is None else times.overlapped * factor,
    )


def _row(comparison: Comparison, name: str) -> CatalogueRow:
    try:
        request = request_of(comparison, name)
        schedule = build(request)
        timeline = simulate(schedule, request.times)
    except ScenarioError as error:
        return CatalogueRow(name, str(error))
    shape = request.shape
    share = 1.0 / shape.chunks if comparison.basis is Basis.RANKS else 1.0
    return CatalogueRow(
        name=name,
        ranks=shape.ranks,
        chunks=shape.chunks,
        makespan=timeline.makespan,
        max_span=float(timeline.spans.max()),
        bubble=bubble_of(timeline),
        peak=float(activations_of(timeline).peak.max()) * share,
        copies=model_copies(schedule),
    )
