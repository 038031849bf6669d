"""A source that asks made-up GPUs, and a process table of a test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fake_nvml.sweeper import Sweeper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fake_nvml.binding import FakeNvml


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A process table with the machine's memory and no process."""
    folder = tmp_path / "proc"
    folder.mkdir()
    (folder / "meminfo").write_text("MemTotal:       125829120 kB\nMemAvailable:   41943040 kB\n")
    return folder


@pytest.fixture
def sweeper(proc: Path) -> Callable[[FakeNvml], Sweeper]:
    """Makes a source of a made-up driver."""
    return lambda nvml: Sweeper(nvml, proc)
