"""The live screen on a real terminal: bytes, idleness, leaving."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from live_rings import MadeUpJob
from terminal.pseudo_terminal import PseudoTerminal, Setup, frames

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-m", "scaletui", "live", "--dir"]
STATES = {"weights_host": 60, "gradients_host": 60, "optimizer_host": 124}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


def test_nothing_is_written_when_nothing_changes(folder: Path) -> None:
    with PseudoTerminal([*COMMAND, str(folder)]) as terminal:
        terminal.wait_for("? help")
        terminal.wait_for("searched")
        terminal.wait_quiet()
        assert terminal.bytes_during(3) == 0


def test_a_finished_job_costs_nothing_either(folder: Path) -> None:
    """Its age is told in hours, and nothing else can change."""
    hours = {"created_wall_ns": 1, "created_monotonic_ns": 1, "pid_start_ticks": 1}
    with MadeUpJob(folder, **hours), PseudoTerminal([*COMMAND, str(folder)]) as terminal:
        terminal.wait_for("? help")
        terminal.wait_for("exited")
        terminal.wait_quiet()
        assert terminal.bytes_during(2) == 0


@pytest.mark.parametrize(("columns", "rows", "budget"), [(80, 24, 4096), (200, 50, 8192)])
def test_a_frame_of_a_running_job(folder: Path, columns: int, rows: int, budget: int) -> None:
    with (
        MadeUpJob(folder, 8) as job,
        PseudoTerminal([*COMMAND, str(folder)], Setup(columns, rows)) as terminal,
    ):
        job.plan()
        job.step(1, **STATES)
        terminal.wait_for("? help")
        terminal.wait_for("step 1")
        terminal.wait_quiet(0.2)
        mark = len(terminal.output)
        for step in range(2, 8):
            job.step(step, **{**STATES, "gradients_host": 60 * (step % 2)})
            terminal.wait_for(f"step {step} ")
        assert max(map(len, frames(terminal.since(mark)))) <= budget


@pytest.mark.parametrize("way", ["key", "hang-up"])
def test_leaving_restores_the_terminal(folder: Path, way: str) -> None:
    with MadeUpJob(folder) as job, PseudoTerminal([*COMMAND, str(folder)]) as terminal:
        job.step(1, **STATES)
        terminal.wait_for("? help")
        terminal.wait_for("step 1")
        if way == "key":
            terminal.send(b"q")
            assert terminal.wait_exit() == 0
            assert terminal.is_restored()
        else:
            terminal.hang_up()
            assert terminal.wait_exit() != 0
        assert os.listdir(folder)
