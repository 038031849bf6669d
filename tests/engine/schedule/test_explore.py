"""Questions that a screen asks: what runs where, what hangs on it, why a rank idles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.schedule.activations import activations_of, staircase
from scaletui_engine.schedule.explore.around import around, cell_at
from scaletui_engine.schedule.explore.chart import chart_of
from scaletui_engine.schedule.explore.steps import done, moments, next_moment, previous_moment, running
from scaletui_engine.schedule.explore.why_idle import why_idle
from scaletui_engine.schedule.explore.window import Window, actions_in, density, whole
from scaletui_engine.schedule.idle import IdleReason
from scaletui_engine.schedule.needs import NOTHING
from scaletui_engine.schedule.optimizer_step import optimizer_step
from scaletui_engine.schedule.result import evaluate
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.timeline import Timeline


def _names(timeline: Timeline, indices: tuple[int, ...]) -> list[str]:
    return [str(timeline.table.action(index)) for index in indices]


def test_what_hangs_on_an_action(make: Callable[..., Schedule]) -> None:
    """1F1B p4 m8: 1B2 runs from 14 to 16 on rank 1."""
    timeline = simulate(make("1f1b", 4, 8))
    chart = chart_of(timeline)
    found = around(chart, cell_at(chart, 1, 15.0))
    assert [str(action) for action in found.actions] == ["1B2"]
    assert _names(timeline, found.dependencies) == ["2B2", "1F2"]
    assert _names(timeline, found.successors) == ["0B2"]
    assert _names(timeline, (found.previous, found.following)) == ["1F4", "1F5"]
    assert (found.start, found.end, found.waited_for) == (14, 16, NOTHING)


def test_a_pair_answers_for_both_its_actions(make: Callable[..., Schedule]) -> None:
    timeline = simulate(make("dualpipev", 2, 4))
    index = next(i for i in range(len(timeline.start)) if timeline.table.joined[i])
    chart = chart_of(timeline)
    first, second = around(chart, index - 1), around(chart, index)
    assert first == second
    assert [str(action) for action in first.actions] == ["0F3", "3B1"]
    assert _names(timeline, first.dependencies) == ["3F1"]
    assert _names(timeline, first.successors) == ["0I3", "1F3", "2B1"]


@pytest.mark.parametrize("name", ["gpipe", "zb-h2", "zb-v", "dualpipe", "combined-1f1b"])
def test_dependencies_and_successors_mirror_each_other(name: str, make: Callable[..., Schedule]) -> None:
    timeline = simulate(make(name, 4, 8))
    chart = chart_of(timeline)
    every = [around(chart, int(i)) for i in np.flatnonzero(~timeline.table.joined)]
    lead = {
        index: cell.index
        for cell in every
        for index in range(cell.index, int(timeline.table.last[cell.index]) + 1)
    }
    forwards = {(cell.index, lead[other]) for cell in every for other in cell.successors}
    backwards = {(lead[other], cell.index) for cell in every for other in cell.dependencies}
    assert forwards == backwards
    assert all(timeline.end[one] <= timeline.start[other] + 1e-9 for one, other in forwards)


def test_why_a_rank_idles(make: Callable[..., Schedule]) -> None:
    result = evaluate(make("1f1b", 4, 8), uniform(1, 1, 1, 0.5))
    timeline, idle = result.timeline, result.idle
    fill = why_idle(timeline, idle, 3, 1.0)
    assert fill is not None
    assert (fill.reason, fill.start, fill.end) == (IdleReason.FILL, 0, 4.5)
    assert _names(timeline, (fill.next_action, fill.waits_for)) == ["3F0", "2F0"]
    assert fill.computed == 4.0
    wait = why_idle(timeline, idle, 0, 6.0)
    assert wait is not None
    assert (wait.reason, wait.start) == (IdleReason.WAIT, 4)
    assert _names(timeline, (wait.next_action, wait.waits_for)) == ["0B0", "1B0"]
    drain = why_idle(timeline, idle, 3, timeline.makespan - 0.1)
    assert drain is not None
    assert (drain.reason, drain.next_action, drain.waits_for) == (IdleReason.DRAIN, NOTHING, NOTHING)
    assert why_idle(timeline, idle, 0, 0.5) is None
    assert why_idle(timeline, idle, 0, timeline.makespan) is None


@pytest.mark.parametrize("name", ["1f1b", "zb-v", "dualpipe"])
def test_idle_or_busy_at_every_moment(name: str, make: Callable[..., Schedule]) -> None:
    result = evaluate(make(name, 4, 8), uniform(1, 1.25, 0.75, 0.5))
    chart = chart_of(result.timeline)
    for time in np.linspace(0, result.timeline.makespan, 97, endpoint=False):
        for rank in range(4):
            index = cell_at(chart, rank, time)
            assert (index == NOTHING) == (why_idle(result.timeline, result.idle, rank, time) is not None)


def test_stepping_both_ways(make: Callable[..., Schedule]) -> None:
    timeline = simulate(make("1f1b", 2, 2))
    every = moments(timeline)
    assert every.tolist() == [0, 1, 2, 4, 5, 6, 7, 9]
    assert [next_moment(every, t) for t in (-1, 0, 4.5, 9, 99)] == [0, 1, 5, 9, 9]
    assert [previous_moment(every, t) for t in (0, 0.5, 4, 99)] == [0, 0, 2, 9]
    assert running(timeline, 1.0).sum() == 2
    assert done(timeline, 9.0).all()


@pytest.mark.parametrize("name", ["1f1b", "zb-v", "dualpipev", "seq1f1b"])
@pytest.mark.parametrize("columns", [7, 80, 1000])
def test_shares_of_a_window_add_up_to_the_busy_time(
    name: str, columns: int, make: Callable[..., Schedule]
) -> None:
    timeline = simulate(make(name, 4, 8), uniform(1, 1.5, 0.5, 0.3))
    chart = chart_of(timeline)
    shares = density(chart, whole(chart, columns))
    assert shares.shape == (4, columns, 4)
    assert shares.min() >= -1e-9
    assert shares.sum(axis=2).max() <= 1 + 1e-9
    assert shares.sum(axis=(1, 2)) * timeline.makespan / columns == pytest.approx(timeline.busy)


def test_a_window_in_the_middle(make: Callable[..., Schedule]) -> None:
    timeline = simulate(make("1f1b", 4, 8))
    index = actions_in(chart_of(timeline), Window(12.0, 16.0, 4))
    names = [["." if i == NOTHING else str(timeline.table.action(i)) for i in row] for row in index.tolist()]
    assert names == [
        ["0F4", "0B1", "0B1", "0F5"],
        ["1B1", "1F4", "1B2", "1B2"],
        ["2B2", "2B2", "2F4", "2B3"],
        ["3F3", "3B3", "3B3", "3F4"],
    ]
    shares = density(chart_of(timeline), Window(12.0, 16.0, 1))
    assert shares.sum(axis=(1, 2)).tolist() == pytest.approx(
        [sum(name != "." for name in row) / 4 for row in names]
    )


@pytest.mark.parametrize("window", [Window(3, 3, 10), Window(4, 3, 10), Window(0, 1, 0)], ids=str)
def test_a_window_without_width(window: Window, make: Callable[..., Schedule]) -> None:
    with pytest.raises(ValueRangeError, match="has no width"):
        density(chart_of(simulate(make("1f1b", 2, 2))), window)


def test_the_staircase_starts_and_ends_empty(make: Callable[..., Schedule]) -> None:
    timeline = simulate(make("dualpipe", 4, 8))
    live = activations_of(timeline)
    for rank in range(4):
        steps = staircase(timeline, live, rank)
        assert (steps.level[0], steps.level[-1], steps.level.max()) == (0, 0, live.peak[rank])
        assert (np.diff(steps.time) >= 0).all()


@pytest.mark.parametrize(
    ("name", "synchronised", "period"),
    [("zb-h2", True, 28.0), ("zb-h2", False, 25.0), ("1f1b", True, 34.0), ("1f1b", False, 34.0)],
)
def test_optimizer_step(name: str, synchronised: bool, period: float, make: Callable[..., Schedule]) -> None:
    """arXiv:2401.10241, section 4: a global check costs ZB-H2 the stagger of its ranks, 1F1B nothing."""
    step = optimizer_step(simulate(make(name, 4, 8)), 1.0, synchronised)
    assert step.period == period
    assert (step.start == step.start[0]).all() == synchronised
    assert (step.end - step.start).tolist() == [1.0] * 4
