"""Our phases against PyTorch's own FSDPMemTracker, run on a small model: marks to the byte, the peak near."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scaletui_engine.memory.conventions.memtracker import TrackerCase, tracker_marks, tracker_peak
from scaletui_engine.model import Arch

pytestmark = pytest.mark.torch

ARCH = Arch(layers=3, hidden=256, heads=4, kv_heads=2, head_dim=64, ffn=688, vocab=4000)
PLAIN = {"ws": 8, "B": 2, "T": 128, "ac": "none", "reshard": 1, "mp": "bf16", "fused": 0}
CASES = {
    "plain": PLAIN,
    "uneven-shards": {**PLAIN, "ws": 3},
    "full-recompute": {**PLAIN, "ac": "full", "T": 512},
    "never-reshard": {**PLAIN, "reshard": 0, "fused": 1},
    "fp32": {**PLAIN, "mp": "none", "T": 64},
}


@cache
def _tracked() -> dict[str, dict[str, Any]]:
    """One process for all cases: importing torch takes longer than any of them."""
    script = Path(__file__).with_name("memory_tracker_job.py")
    command = [sys.executable, "-W", "ignore", str(script), *(json.dumps(cfg) for cfg in CASES.values())]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    rows = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return dict(zip(CASES, rows, strict=True))


def _case(cfg: dict[str, Any]) -> TrackerCase:
    return TrackerCase(
        ARCH,
        cfg["ws"],
        cfg["B"],
        cfg["T"],
        recompute=cfg["ac"] == "full",
        reshard=bool(cfg["reshard"]),
        mixed=cfg["mp"] == "bf16",
        fused=bool(cfg["fused"]),
    )


@pytest.mark.parametrize("name", CASES)
def test_marks_are_equal_to_the_byte(name: str) -> None:
    marks, own = _tracked()[name]["marks"], tracker_marks(_case(CASES[name]))
    for mark, devices in marks.items():
        (held,) = devices.values()
        grads = own.sharded_grads if mark in ("after bwd", "after step") else 0
        whole = own.unsharded_params if mark == "after fwd" else 0
        assert held["Sharded Param"] == own.sharded_params, mark
        assert held["OptState"] == own.optimizer, mark
        assert held.get("Sharded Grad", 0) == grads, mark
        assert held.get("Unsharded Param", 0) == whole, mark


@pytest.mark.parametrize("name", CASES)
def test_the_peak_is_within_5_percent_and_in_its_phase(name: str) -> None:
    (peak,) = _tracked()[name]["peak"].values()
    own = tracker_peak(_case(CASES[name]))
    assert own.bytes == pytest.approx(peak["Total"], rel=0.05)
    if peak.get("OptState", 0) > tracker_marks(_case(CASES[name])).optimizer:
        assert own.phase == "step"
    elif peak.get("Reduce Scatter", 0):
        assert own.phase in ("backward", "end_of_backward")
