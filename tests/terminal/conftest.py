"""Starts programs on pseudo-terminals and ends them after the test."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from terminal.pseudo_terminal import PseudoTerminal, Setup

if TYPE_CHECKING:
    from collections.abc import Iterator

CANVAS_APP = (sys.executable, str(Path(__file__).with_name("canvas_app.py")))


class Start(Protocol):
    """Starts the small canvas program, with arguments, in a terminal."""

    def __call__(self, *arguments: str, setup: Setup | None = None) -> PseudoTerminal: ...


@pytest.fixture
def start_canvas() -> Iterator[Start]:
    """The program is on the screen and quiet when it is handed over."""
    with ExitStack() as programs:

        def start(*arguments: str, setup: Setup | None = None) -> PseudoTerminal:
            terminal = programs.enter_context(PseudoTerminal([*CANVAS_APP, *arguments], setup))
            terminal.wait_for("tick 0")
            terminal.wait_quiet()
            return terminal

        yield start
