"""The simulator against a slow and obvious one, and what must hold of every timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaletui_engine.errors import ScenarioError, ValueRangeError
from scaletui_engine.schedule.action import Action, leaves
from scaletui_engine.schedule.bubble import bubble_of
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build, entry, schedule_names
from scaletui_engine.schedule.result import evaluate
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import Times, uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule


def _slow_ends(schedule: Schedule, times: Times) -> dict[Action, float]:
    """Round after round over all ranks, one cell at a time, by the definition."""
    stages, ends = schedule.stages, dict[Action, float]()
    home = {a: r for r in range(schedule.ranks) for step in schedule.steps(r) for a in leaves(step)}
    rows = [list(schedule.steps(rank)) for rank in range(schedule.ranks)]
    clock = [0.0] * schedule.ranks
    while any(rows):
        for rank, row in enumerate(rows):
            if row and (start := _ready(row[0], home, ends, (stages, times))) is not None:
                cell = leaves(row.pop(0))
                took = sum(_cost(action, times) for action in cell)
                if len(cell) == 2 and times.overlapped is not None:
                    took = times.overlapped
                clock[rank] = max(clock[rank], start) + took
                ends.update((action, clock[rank]) for action in cell)
    return ends


def _ready(
    step: object, home: dict[Action, int], ends: dict[Action, float], world: tuple[int, Times]
) -> float | None:
    latest = 0.0
    for action in leaves(step):  # type: ignore[arg-type]
        for other in _inputs(action, world[0]):
            if any(candidate in ends for candidate in other):
                found = next(candidate for candidate in other if candidate in ends)
                lag = 0.0 if home[found] == home[action] else world[1].comm[0]
                latest = max(latest, ends[found] + lag)
            else:
                return None
    return latest


def _inputs(action: Action, stages: int) -> list[list[Action]]:
    stage, microbatch = action.stage, action.microbatch
    if action.kind == Kind.FORWARD:
        return [[Action(stage - 1, Kind.FORWARD, microbatch)]] if stage else []
    if action.kind == Kind.WEIGHT_GRAD:
        return [[Action(stage, Kind.INPUT_GRAD, microbatch)]]
    after = [Action(stage + 1, kind, microbatch) for kind in (Kind.INPUT_GRAD, Kind.BACKWARD)]
    return [[Action(stage, Kind.FORWARD, microbatch)], *([after] if stage < stages - 1 else [])]


def _cost(action: Action, times: Times) -> float:
    f, i, w = times.forward[0], times.input_grad[0], times.weight_grad[0]
    return (f, i, w, i + w)[action.kind]


SHAPES = st.tuples(st.sampled_from(schedule_names()), st.integers(1, 5), st.integers(1, 10))
TENTHS = st.integers(0, 40).map(lambda n: n / 8)


@settings(max_examples=100, deadline=None)
@given(SHAPES, st.integers(1, 20).map(lambda n: n / 8), TENTHS, TENTHS, TENTHS)
def test_equal_to_the_definition(shape: tuple[str, int, int], f: float, i: float, w: float, c: float) -> None:
    name, ranks, microbatches = shape
    times = uniform(f, i, w, c)
    try:
        schedule = build(Request(name, Shape(ranks, microbatches, entry(name).default_chunks), times=times))
    except ScenarioError:
        return
    timeline = simulate(schedule, times)
    slices, slow = schedule.slices, _slow_ends(schedule, _cut(times, schedule.slices))
    for index, end in enumerate(timeline.end.tolist()):
        assert end == pytest.approx(slow[timeline.table.action(index)], abs=1e-9), (name, slices)


def _cut(times: Times, slices: int) -> Times:
    compute = (times.forward[0] / slices, times.input_grad[0] / slices, times.weight_grad[0] / slices)
    return uniform(*compute, times.comm[0])


@settings(max_examples=50, deadline=None)
@given(SHAPES, st.lists(st.integers(1, 9), min_size=8, max_size=8))
def test_a_rank_does_one_thing_at_a_time_and_its_idle_time_adds_up(
    shape: tuple[str, int, int], numbers: list[int]
) -> None:
    name, ranks, microbatches = shape
    f, i, w, c, *_ = (float(number) for number in numbers)
    try:
        request = Request(
            name, Shape(ranks, microbatches, entry(name).default_chunks), times=uniform(f, i, w, c)
        )
        result = evaluate(build(request), request.times)
    except ScenarioError:
        return
    timeline, idle = result.timeline, result.idle
    for rank in range(ranks):
        first, stop = timeline.table.row[rank : rank + 2]
        lead = first + np.flatnonzero(~timeline.table.joined[first:stop])
        assert (timeline.start[lead][1:] >= timeline.end[lead][:-1] - 1e-9).all()
        gaps = (idle.end - idle.start)[idle.rank == rank].sum()
        assert gaps == pytest.approx(result.bubble.per_rank[rank], abs=1e-6)
    assert timeline.makespan >= result.bubble.ideal - 1e-9
    path = list(result.critical_path)
    assert timeline.start[path[0]] == 0
    assert timeline.end[path[-1]] == timeline.makespan


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (Times(forward=(-1.0,)), "forward time -1 is not a number of at least 0"),
        (Times(comm=(float("inf"),)), "comm time inf"),
        (Times(forward=(1.0, 2.0)), "forward names 2 times for 4 stages; nearest valid: 1 or 4 times"),
        (Times(comm=(1.0, 2.0)), "comm names 2 times for 3 boundaries"),
        (Times(microbatch_scale=(1.0,) * 3), "microbatch scale names 3 times for 8 microbatches"),
        (Times((0.0,), (0.0,), (0.0,)), "forward 0 \\+ backward 0 = 0: no action takes any time"),
        (Times(overlapped=-3.0), "overlapped time -3"),
    ],
)
def test_impossible_times(times: Times, message: str, make: Callable[..., Schedule]) -> None:
    with pytest.raises(ValueRangeError, match=message):
        simulate(make("1f1b", 4, 8), times)


def test_a_message_between_stages_of_one_rank_is_free(make: Callable[..., Schedule]) -> None:
    """The turn of the V: stage 3 and 4 are both on rank 3."""
    timeline = simulate(make("zb-v", 4, 8), uniform(1, 1, 1, 5))
    needs, table = timeline.needs, timeline.table
    turn = [i for i in range(len(table.code)) if str(table.action(i)) == "4F0"]
    assert needs.lag[turn].tolist() == [0.0]
    assert set(needs.lag[(table.stage > 0) & (table.stage != 4) & (table.kind == 0)].tolist()) == {5.0}


def test_messages_may_differ_from_boundary_to_boundary(make: Callable[..., Schedule]) -> None:
    timeline = simulate(make("gpipe", 4, 1), Times(comm=(0.0, 10.0, 0.0)))
    assert timeline.makespan == 4 + 8 + 20


def test_bubble_names(make: Callable[..., Schedule]) -> None:
    """1F1B p4 m8: A (p - 1) / m, B (p - 1) / (m + p - 1); ZB-H2 has C 0 but a stagger (arXiv:2401.10241)."""
    one = bubble_of(simulate(make("1f1b", 4, 8)))
    assert (one.over_ideal, one.over_makespan, one.zero_bubble) == (3 / 8, 3 / 11, 3 / 11)
    two = bubble_of(simulate(make("zb-h2", 4, 8)))
    assert (two.over_ideal, two.over_makespan, two.zero_bubble) == (3 / 24, 3 / 27, 0)
