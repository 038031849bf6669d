"""A workbench for every test that starts a job."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING

import pytest
from probe.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

DEEPSPEED_PYTHON = os.environ.get("DEEPSPEED_PYTHON", sys.executable)
"""The Python that has DeepSpeed, where one is named."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave DeepSpeed's jobs alone where no Python is named for them and this one has no DeepSpeed."""
    if collection_path.name != "test_zero_jobs.py" or "DEEPSPEED_PYTHON" in os.environ:
        return None
    return importlib.util.find_spec("deepspeed") is None or None


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    rings, out = tmp_path / "rings", tmp_path / "out"
    rings.mkdir(mode=0o700)
    out.mkdir()
    return Workbench(rings, out)
