"""torchrun: a rank that is killed, the others that it ends, and the attempt after."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from probe.workbench import JOBS, Outcome, Ring, Workbench

from scaletui_probe.layout import Event, Kind

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("launcher")


@pytest.fixture(scope="module")
def outcome(folder: Path) -> Outcome:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    bench = Workbench(folder / "rings", folder)
    return bench.run([*launcher, "--max-restarts=1", str(JOBS / "ranks.py"), str(folder)])


@pytest.fixture(scope="module")
def rings(outcome: Outcome) -> dict[tuple[int, int], Ring]:
    """By attempt and rank."""
    return {(ring.header.attempt, ring.header.rank): ring for ring in outcome.rings}


def test_the_job_recovers(outcome: Outcome) -> None:
    assert outcome.code == 0, outcome.output


def test_every_rank_of_every_attempt_has_a_ring_and_the_launcher_has_none(
    rings: dict[tuple[int, int], Ring], folder: Path
) -> None:
    noted = {
        (attempt, rank): json.loads((folder / f"rank{rank}.{attempt}.json").read_text())["pid"]
        for attempt in (0, 1)
        for rank in (0, 1)
    }
    assert {place: ring.header.pid for place, ring in rings.items()} == noted


def test_a_restart_is_the_same_job_under_the_same_launcher(rings: dict[tuple[int, int], Ring]) -> None:
    assert len({ring.header.job_id for ring in rings.values()}) == 1
    assert len({(ring.header.parent_pid, ring.header.parent_start_ticks) for ring in rings.values()}) == 1
    assert {ring.header.world_size for ring in rings.values()} == {2}


@pytest.mark.parametrize(
    ("attempt", "rank", "events"),
    [
        pytest.param(0, 1, [Event.START], id="killed"),
        pytest.param(0, 0, [Event.START], id="ended-by-the-launcher"),
        pytest.param(1, 0, [Event.START, Event.EXIT], id="the-second-attempt-rank-0"),
        pytest.param(1, 1, [Event.START, Event.EXIT], id="the-second-attempt-rank-1"),
    ],
)
def test_rings_of_all_attempts_stay(
    rings: dict[tuple[int, int], Ring], attempt: int, rank: int, events: list[Event]
) -> None:
    ring = rings[attempt, rank]
    assert [record.event for record in ring.records[Kind.EVENT]] == events
    assert ring.last(Kind.STEP).measures.get("step") == 2
