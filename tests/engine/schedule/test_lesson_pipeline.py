"""The lesson's pipeline simulator and GPipe, one unit of time a layer, over the lesson's whole oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_engine.schedule.bubble import bubble_of
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import Times

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.timeline import Timeline

ORACLE = json.loads((Path(__file__).parents[2] / "golden" / "lesson" / "oracle.json").read_text("utf-8"))


def _id(row: list[list[int]]) -> str:
    return "-".join(map(str, row[0]))


def _gpipe(make: Callable[..., Schedule], arguments: list[int]) -> Timeline:
    """A stage of L // N layers takes L // N forward and as much backward; backwards run in reverse."""
    layers, stages, microbatches = arguments
    time = float(layers // stages)
    return simulate(make("gpipe", stages, microbatches), Times(forward=(time,), backward=(time,)))


@pytest.mark.parametrize("row", ORACLE["pipeline"]["rows"], ids=_id)
def test_total_and_bubble(row: list[list[Any]], make: Callable[..., Schedule]) -> None:
    timeline = _gpipe(make, row[0])
    expected = dict(zip(ORACLE["pipeline"]["results"], row[1], strict=True))
    bubble = bubble_of(timeline)
    assert timeline.makespan == expected["total_time"]
    assert bubble.over_makespan == pytest.approx(expected["bubble_fraction"], abs=1e-12)
    assert bubble.over_ideal == pytest.approx(expected["bubble_over_ideal"], abs=1e-12)


@pytest.mark.parametrize("row", ORACLE["pipeline_timelines"]["rows"], ids=_id)
def test_every_event(row: list[list[Any]], make: Callable[..., Schedule]) -> None:
    timeline = _gpipe(make, row[0])
    names = {Kind.FORWARD: "fwd", Kind.BACKWARD: "bwd"}
    actions = [timeline.table.action(index) for index in range(len(timeline.start))]
    found = [
        (action.stage, action.microbatch, names[action.kind], start, end)
        for action, start, end in zip(actions, timeline.start, timeline.end, strict=True)
    ]
    assert sorted(found) == sorted(map(tuple, row[1]))
