"""A workbench for every test that starts a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from probe.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    rings, out = tmp_path / "rings", tmp_path / "out"
    rings.mkdir(mode=0o700)
    out.mkdir()
    return Workbench(rings, out)
