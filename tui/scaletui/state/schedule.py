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
    from scaletui_engine.schedule.estimate.from_scenario import Estimate
    from scaletui_engine.schedule.optimizer_step import OptimizerStep
    from scaletui_engine.schedule.orders.request import Request
    from scaletui_engine.schedule.timeline import Timeline

MOST_PLACES: Final = 1 << 18
"""Stages x microbatches that are simulated; above it a person would wait."""
MOST_RUNS: Final = 3
"""Schedules on one time axis."""
EXAMPLE: Final = (4, 8)
"""Ranks and microbatches of what is shown for a plan without a pipeline."""


KINDS: Final = ("forward", "input_grad", "weight_grad", "backward")
"""Roles of the engine's kinds 0 to 3."""


class Messages(StrEnum):
    """How messages travel: the engine's `Transport`, which is not named here because it imports numpy."""

    ASYNC = "async"
    BLOCKING = "blocking"
    IN_ORDER = "in-order"
    LATE_LAUNCH = "late-launch"


class Update(StrEnum):
    """When ranks run the optimizer step, where it is shown."""

    NONE = ""
    TOGETHER = "together"
    """All at once, after the last: a norm over all gradients comes first."""
    ALONE = "alone"
    """Each after its own last action, as the zero-bubble paper's post-validation allows."""


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
    messages: Messages = Messages.ASYNC
    update: Update = Update.NONE

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
    weights: tuple[float, ...] = ()
    """[ranks] bytes of all copies and versions of the weights; empty where nobody knows."""

    @property
    def end(self) -> float:
        """When all is done, the optimizer step included."""
        step = self.chart.step
        return self.makespan if step is None else float(step.end.max())

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
        """The longest of the runs, with its optimizer step."""
        return max(run.end for run in self.runs)


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
    from scaletui_engine.schedule.modes.transport import Transport, simulate_transport
    from scaletui_engine.schedule.registry import build
    from scaletui_engine.schedule.result import result_of
    from scaletui_engine.schedule.weights import weights_bytes

    known = _known(question, name)
    request = known.request
    places = request.shape.stages * request.shape.microbatches
    if places > MOST_PLACES:
        raise ScenarioError(
            f"stages {request.shape.stages} x microbatches {request.shape.microbatches} = {places}"
            f" > {MOST_PLACES}, too many to show",
            "scaletui schedule, which prints them",
        )
    schedule = build(request)
    timeline = simulate_transport(schedule, request.times, Transport(question.messages))
    result = result_of(timeline)
    return Run(
        name=name,
        chunks=request.shape.chunks,
        makespan=timeline.makespan,
        bubble=result.bubble,
        peaks=tuple(float(peak) / request.shape.chunks for peak in result.activations.peak),
        held_bytes=known.held,
        chart=ScheduleChart(result, _step(question, name, timeline)),
        weights=weights_bytes(schedule, known.weights) if known.weights else (),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is asked of the engine, and the bytes of each stage where they are known."""

    request: Request
    held: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()


def _known(question: Question, name: str) -> _Known:
    if question.is_example:
        return _Known(_in_steps(question, name))
    if question.unit is Unit.SECONDS:
        found = _estimated(question, name)
        return _Known(found.request, found.deltas.forward, found.weights)
    request = _in_steps(question, name)
    if question.beside:
        return _Known(request)
    try:
        found = _estimated(question, name)
    except ScenarioError:
        return _Known(request)
    return _Known(request, found.deltas.forward, found.weights)


def _step(question: Question, name: str, timeline: Timeline) -> OptimizerStep | None:
    """In steps as long as the forward pass of a rank's layers, in seconds as estimated."""
    from scaletui_engine.schedule.estimate.optimizer import optimizer_seconds  # deferred: numpy
    from scaletui_engine.schedule.optimizer_step import optimizer_step

    if question.update is Update.NONE:
        return None
    took = 1.0
    if question.unit is Unit.SECONDS and not question.is_example:
        took = optimizer_seconds(with_schedule(question.scenario, name))
    return optimizer_step(timeline, took, synchronised=question.update is Update.TOGETHER)


def _estimated(question: Question, name: str) -> Estimate:
    from scaletui_engine.schedule.estimate.from_scenario import estimate  # deferred: numpy

    return estimate(with_schedule(question.scenario, name))


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
