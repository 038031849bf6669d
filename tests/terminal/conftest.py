"""Starts programs on pseudo-terminals and ends them after the test."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from terminal.pseudo_terminal import PseudoTerminal, Setup, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

CANVAS_APP = (sys.executable, str(Path(__file__).with_name("canvas_app.py")))


class Start(Protocol):
    """Starts a program with these arguments and hands it over when its picture stands, and stands still."""

    def __call__(
        self, *arguments: str, setup: Setup | None = None, moves: bool = False
    ) -> PseudoTerminal: ...


@pytest.fixture
def start_canvas() -> Iterator[Start]:
    """The small program with one canvas."""
    with ExitStack() as programs:

        def start(*arguments: str, setup: Setup | None = None, moves: bool = False) -> PseudoTerminal:
            terminal = programs.enter_context(PseudoTerminal([*CANVAS_APP, *arguments], setup))
            terminal.wait_for("tick 0")
            if not moves:
                terminal.wait_quiet()
            return terminal

        yield start


@pytest.fixture
def start_app(tmp_path: Path) -> Iterator[Start]:
    """scaletui itself, looking for jobs in a folder of the test."""
    with ExitStack() as programs:

        def start(*arguments: str, setup: Setup | None = None, moves: bool = False) -> PseudoTerminal:
            given = setup or Setup()
            variables = {"SCALETUI_DIR": str(tmp_path / "rings"), **given.environment}
            command = [sys.executable, "-m", "scaletui", *arguments]
            terminal = programs.enter_context(PseudoTerminal(command, replace(given, environment=variables)))
            terminal.wait_for("? help")
            if not moves:
                terminal.wait_quiet(0.7)
            return terminal

        yield start


@pytest.fixture
def fake_job(tmp_path: Path) -> Iterator[None]:
    """A job of eight ranks that publishes until the end of the test, in the same folder."""
    command = [sys.executable, str(Path(__file__).with_name("fake_job.py")), str(tmp_path / "rings")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment(Setup())) as job:
        yield
        assert job.stdin is not None
        job.stdin.close()
