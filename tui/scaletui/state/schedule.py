"""The plan's pipeline, simulated: one run of it, and runs of other schedules beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Final

from scaletui.text.refusals import refusal
from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ScenarioError

if TYPE_CHECKING:
    from scaletui.state.schedule_chart import ScheduleChart
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.schedule.bubble import Bubble
    from scaletui_engine.schedule.orders.request import Request

MOST_PLACES: Final = 1 << 18
"""Stages x microbatches that are simulated; above it a person would wait."""
MOST_RUNS: Final = 3
"""Schedules on one time axis."""
EXAMPLE: Final = (4, 8)
"""Ranks and microbatches of what is shown for a plan without a pipeline."""


class Unit(StrEnum):
    """What time is counted in."""

    STEPS = "t"
    """Forward 1, input gradient 1, weight gradient 1, backward 2; messages are free."""
    SECONDS = "s"
    """Estimated from the scenario."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to simulate."""

    scenario: Scenario
    unit: Unit = Unit.STEPS
    beside: tuple[str, ...] = ()
    """Other schedules, on the same time axis."""

    @property
    def is_example(self) -> bool:
        """Whether the plan has no pipeline, so that an example stands in."""
        return self.scenario.plan.axes.pp == 1

    @property
    def places(self) -> int:
        """Ranks x microbatches."""
        ranks, microbatches = self.shape
        return ranks * microbatches

    @property
    def shape(self) -> tuple[int, int]:
        """Pipeline ranks and microbatches."""
        plan = self.scenario.plan
        return EXAMPLE if self.is_example else (plan.axes.pp, max(plan.accumulation, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One schedule, simulated; times in the unit of its question."""

    name: str
    chunks: int
    makespan: float
    bubble: Bubble
    peaks: tuple[float, ...]
    """[ranks] microbatches whose activations each rank holds at its peak."""
    held_bytes: tuple[float, ...]
    """[stages] bytes that one microbatch leaves on a stage; empty where nobody knows."""
    chart: ScheduleChart

    @property
    def worst_rank(self) -> int:
        """The rank that holds most; the first of equals."""
        return max(range(len(self.peaks)), key=lambda rank: (self.peaks[rank], -rank))

    def microbatch_bytes(self, rank: int) -> float:
        """Bytes that one microbatch leaves on all stages of a rank; 0 where nobody knows."""
        stages = self.chart.stages_of(rank)
        return sum(self.held_bytes[stage] for stage in stages) if self.held_bytes else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class SchedulePicture:
    """The answer to a question."""

    question: Question
    runs: tuple[Run, ...]
    """The plan's own schedule, then those beside it."""
    unit: float
    """A typical forward pass of the first run."""
    refusals: tuple[str, ...] = ()
    """Why schedules that were asked for beside it are not there."""

    @property
    def ranks(self) -> int:
        """Pipeline ranks."""
        return self.question.shape[0]

    @property
    def makespan(self) -> float:
        """The longest of the runs."""
        return max(run.makespan for run in self.runs)


def picture(question: Question) -> SchedulePicture:
    """Simulate. Raises ScenarioError where the plan's own schedule cannot have this shape."""
    own = simulate(question, question.scenario.plan.schedule)
    runs, refusals = [own], []
    for name in question.beside:
        try:
            runs.append(simulate(question, name))
        except ScenarioError as error:
            refusals.append(f"{name}: {refusal(error)}")
    return SchedulePicture(question, tuple(runs), _typical_forward(own), tuple(refusals))


def simulate(question: Question, name: str) -> Run:
    """One schedule of the question's shape. Raises ScenarioError where it refuses."""
    from scaletui.state.schedule_chart import ScheduleChart  # deferred: these import numpy
    from scaletui_engine.schedule.registry import build
    from scaletui_engine.schedule.result import evaluate

    request, held = _request(question, name)
    places = request.shape.stages * request.shape.microbatches
    if places > MOST_PLACES:
        raise ScenarioError(
            f"stages {request.shape.stages} x microbatches {request.shape.microbatches} = {places}"
            f" > {MOST_PLACES}, too many to show",
            "scaletui schedule, which prints them",
        )
    result = evaluate(build(request), request.times)
    peaks = tuple(float(peak) / request.shape.chunks for peak in result.activations.peak)
    chart = ScheduleChart(result)
    return Run(name, request.shape.chunks, result.timeline.makespan, result.bubble, peaks, held, chart)


def _request(question: Question, name: str) -> tuple[Request, tuple[float, ...]]:
    """What is asked of the engine, and the bytes of a microbatch on each stage."""
    if question.unit is Unit.SECONDS and not question.is_example:
        return _estimated(question, name)
    held: tuple[float, ...] = ()
    if not question.is_example and not question.beside:
        try:
            held = _estimated(question, name)[1]
        except ScenarioError:
            held = ()
    return _in_steps(question, name), held


def _estimated(question: Question, name: str) -> tuple[Request, tuple[float, ...]]:
    from scaletui_engine.schedule.estimate.from_scenario import estimate  # deferred: numpy

    found = estimate(with_schedule(question.scenario, name))
    return found.request, found.deltas.forward


def with_schedule(scenario: Scenario, name: str) -> Scenario:
    """The scenario with another schedule, its chunks within what that schedule takes."""
    return replace(scenario, plan=replace(scenario.plan, schedule=name, chunks=_chunks(scenario, name)))


def _in_steps(question: Question, name: str) -> Request:
    """Compared schedules share their ranks: a chunk of v chunks a rank takes 1 / v of the time."""
    from scaletui_engine.schedule.catalogue import scaled  # deferred: numpy
    from scaletui_engine.schedule.orders.request import Request
    from scaletui_engine.schedule.shape import Shape
    from scaletui_engine.schedule.times import UNIT_TIMES

    ranks, microbatches = question.shape
    shape = Shape(ranks, microbatches, _chunks(question.scenario, name))
    times = scaled(UNIT_TIMES, 1.0 / shape.chunks) if question.beside else UNIT_TIMES
    return Request(name, shape, times=times)


def _chunks(scenario: Scenario, name: str) -> int:
    from scaletui_engine.schedule.registry import entry  # deferred: numpy

    plan, found = scenario.plan, entry(name)
    low, high = found.chunks
    if name == plan.schedule:
        return max(plan.chunks, low)
    wanted = plan.chunks if plan.chunks > 1 else found.default_chunks
    return max(low, min(wanted, high or wanted))


def _typical_forward(run: Run) -> float:
    forward = run.chart.timeline.times.forward
    return fmean(forward) or run.makespan / 10
