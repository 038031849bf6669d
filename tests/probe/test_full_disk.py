"""A disk that is full, before the job begins to train or while it does: the job goes on and is told nothing.

A limit on the size of files stands for it: the write that goes beyond fails as it does on a full disk.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
from probe.fake_torch import FAKE_TORCH, put_torch

from scaletui_probe.layout import HEADER_SIZE, PLAN_SIZE, RECORD_SIZE, Kind

if TYPE_CHECKING:
    from pathlib import Path

    from probe.workbench import Workbench

JOB = """
import resource, sys, time, torch
optimizer = torch.optim.optimizer.Optimizer()
for _ in range({before}):
    optimizer.step()
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
for _ in range({after}):
    optimizer.step()
    time.sleep(0.001)
sys.stdout.write("trained to the end")
"""


class Job(NamedTuple):
    """Steps before and after the disk is full, the byte beyond which it is, and how the job is watched."""

    before: int
    after: int
    limit: int
    mode: str


def trained(bench: Workbench, tmp_path: Path, job: Job) -> int:
    """Run the job; how many rings it left."""
    put_torch(tmp_path, FAKE_TORCH)
    words = [sys.executable, "-c", JOB.format(**job._asdict())]
    outcome = bench.run(words, "--mode", job.mode, "--interval", "0.1", PYTHONPATH=str(tmp_path))
    assert (outcome.code, outcome.output) == (0, "trained to the end")
    return len(outcome.rings)


@pytest.mark.parametrize("mode", ["thread", "hooks"])
def test_a_disk_that_is_full_from_the_start_leaves_no_ring(
    bench: Workbench, tmp_path: Path, mode: str
) -> None:
    assert trained(bench, tmp_path, Job(0, 300, 4096, mode)) == 0
    assert list(bench.rings.iterdir()) == []


@pytest.mark.parametrize("after", [0, 300], ids=["at the end", "while it trains"])
@pytest.mark.parametrize("mode", ["thread", "hooks"])
def test_a_disk_that_fills_up_leaves_what_was_written_before(
    bench: Workbench, tmp_path: Path, mode: str, after: int
) -> None:
    """No write beyond the samples: steps fail, and so does the goodbye."""
    samples = HEADER_SIZE + PLAN_SIZE + 4 * RECORD_SIZE
    assert trained(bench, tmp_path, Job(2, after, samples, mode)) == 1
    (ring,) = bench.read()
    assert ring.records[Kind.STEP][0].measures.get("step") == 1
    assert ring.last(Kind.STEP).measures.get("step") in (1, 2)
    assert [record.event.name for record in ring.records[Kind.EVENT]] == ["START"]
