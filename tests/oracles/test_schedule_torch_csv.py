"""Our CSV in PyTorch's schedule runtime, and PyTorch's CSV through our reader and writer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
from torch.distributed.pipelining.stage import PipelineStage

from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.lowering import lower
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build, entry, schedule_names
from scaletui_engine.schedule.shape import Shape

if TYPE_CHECKING:
    from pathlib import Path

    from scaletui_engine.schedule.schedule import Schedule

pytestmark = pytest.mark.torch

RUNTIME: Any = _PipelineScheduleRuntime
"""Has no annotations of its own."""
NAMES = [name for name in schedule_names() if name != "dualpipe"]
"""PyTorch's runtime knows no stage on two ranks."""


def _schedule(name: str) -> Schedule:
    return build(Request(name, Shape(4, 8, entry(name).default_chunks)))


class FakeStage(PipelineStage):
    """A stage that runs nothing: the runtime asks where it stands and no more."""

    def __init__(self, schedule: Schedule) -> None:
        self.group_rank, self.group_size, self.num_stages = 0, schedule.ranks, schedule.stages
        self.has_backward, self.submod = False, None  # type: ignore[assignment]


def _runtime(schedule: Schedule) -> Any:
    return RUNTIME([FakeStage(schedule)] * schedule.shape.chunks, schedule.units)


def _rows(order: dict[int, list[object]]) -> list[str]:
    return [",".join(map(str, order[rank])) for rank in range(len(order))]


@pytest.mark.parametrize("name", NAMES)
def test_compute_only_loads_and_lowers_to_ours(name: str, tmp_path: Path) -> None:
    schedule, path = _schedule(name), tmp_path / "order.csv"
    path.write_text("\n".join(csv_lines(schedule)) + "\n")
    runtime = _runtime(schedule)
    runtime._load_csv(str(path), format="compute_only")
    assert _rows(runtime.pipeline_order) == list(csv_lines(schedule))
    assert _rows(runtime.pipeline_order_with_comms) == list(csv_lines(lower(schedule)))


@pytest.mark.parametrize("name", NAMES)
def test_compute_comms_loads(name: str, tmp_path: Path) -> None:
    schedule, path = lower(_schedule(name)), tmp_path / "lowered.csv"
    path.write_text("\n".join(csv_lines(schedule)) + "\n")
    runtime = _runtime(schedule)
    runtime._load_csv(str(path), format="compute_comms")
    assert _rows(runtime.pipeline_order_with_comms) == list(csv_lines(schedule))


@pytest.mark.parametrize("form", ["compute_only", "compute_comms"])
@pytest.mark.parametrize("name", NAMES)
def test_theirs_comes_back_through_ours(name: str, form: str, tmp_path: Path) -> None:
    schedule, path, again = _schedule(name), tmp_path / "ours.csv", tmp_path / "theirs.csv"
    path.write_text("\n".join(csv_lines(schedule)) + "\n")
    runtime = _runtime(schedule)
    runtime._load_csv(str(path), format="compute_only")
    runtime._dump_csv(str(again), format=form)
    text = again.read_text()
    found = read_csv(text).schedule
    assert list(csv_lines(found)) == text.splitlines()
