"""Every schedule trained on two gloo ranks: PyTorch's classes and our orders give the same losses."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build, entry, schedule_names
from scaletui_engine.schedule.shape import Shape

if TYPE_CHECKING:
    from types import ModuleType

pytestmark = pytest.mark.torch

JOB = Path(__file__).parent / "jobs" / "pipeline_losses.py"
MICROBATCHES = 8
CLASSES = [name for name in schedule_names() if entry(name).torch]
ORDERS = [name for name in schedule_names() if not entry(name).torch and name != "dualpipe"]
"""DualPipe holds every stage twice: PyTorch's runtime has no such thing."""


@pytest.fixture(scope="module")
def job() -> ModuleType:
    """The job's own module: layers and batch for a run in one process."""
    spec = importlib.util.spec_from_file_location("pipeline_losses", JOB)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """File name -> losses, from one job of two processes that runs all schedules."""
    root = tmp_path_factory.mktemp("pipeline")
    orders = root / "orders"
    orders.mkdir()
    for name in CLASSES:
        (orders / f"{name}.class").write_text(f"{entry(name).default_chunks} {MICROBATCHES}\n")
    for name in ORDERS:
        (orders / f"{name}.csv").write_text(_order(name))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(JOB)]
    places = [str(root / "store"), str(orders), str(root)]
    ranks = [
        subprocess.Popen([*command, str(rank), *places], env=environment, stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    said = [rank.communicate(timeout=600)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(said)[-3000:]
    found = [json.loads((root / f"{rank}.json").read_text()) for rank in range(2)]
    return {name: found[0][name] or found[1][name] for name in found[0]}


def _order(name: str) -> str:
    schedule = build(Request(name, Shape(2, MICROBATCHES, entry(name).default_chunks)))
    return "\n".join([f"{schedule.shape.chunks} {schedule.units}", *csv_lines(schedule)])


def _alone(job: ModuleType) -> list[float]:
    """The same training in one process, without a pipeline."""
    model = torch.nn.Sequential(*job.layers())
    optimizer = torch.optim.SGD(model.parameters(), lr=job.RATE)
    inputs, target = job.batch()
    found: list[float] = []
    for _ in range(job.STEPS):
        optimizer.zero_grad()
        loss: Any = torch.nn.functional.mse_loss(model(inputs), target)
        loss.backward()
        optimizer.step()
        found.append(float(loss.detach()))
    return found


@pytest.mark.parametrize(
    "file", [*(f"{name}.class" for name in CLASSES), *(f"{name}.csv" for name in ORDERS)]
)
def test_losses_equal_those_of_one_process(
    file: str, losses: dict[str, list[float]], job: ModuleType
) -> None:
    """fp32; gradients are summed in another order, so the last bits may differ."""
    assert losses[file] == pytest.approx(_alone(job), rel=1e-5)
    assert losses[file][-1] < losses[file][0]
