"""Real jobs under `scaletui run`: what a viewer makes of their rings, while they run and afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from probe.workbench import Workbench

from scaletui_engine.live.contract import contract
from scaletui_engine.live.evidence import RankState, What
from scaletui_engine.live.judgement import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scaletui_engine.live.snapshot import JobView, Snapshot

pytestmark = pytest.mark.torch

STEPS = 4
ENDLESS = 1_000_000
PREDICTED = ("weights", "gradients", "optimizer")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    rings, out = tmp_path / "rings", tmp_path / "out"
    rings.mkdir(mode=0o700)
    out.mkdir()
    return Workbench(rings, out)


@pytest.mark.parametrize(
    ("shape", "ranks"),
    [
        pytest.param("fsdp2", 2, id="fsdp2-2-ranks-one-with-an-empty-shard"),
        pytest.param("fsdp2", 4, id="fsdp2-4-ranks-three-with-empty-shards"),
        pytest.param("hsdp", 4, id="hsdp-2-by-2"),
        pytest.param("ddp", 2, id="ddp"),
    ],
)
def test_predicted_measured_and_counted_in_the_job_are_one(
    bench: Workbench, look: Callable[[Path], Snapshot], shape: str, ranks: int
) -> None:
    outcome = bench.run(bench.torchrun(ranks, "train.py", shape, str(STEPS)))
    assert outcome.code == 0, outcome.output
    snapshot = look(bench.rings)
    (job,) = contract(snapshot)["jobs"]
    assert (job["state"], job["world_size"], job["step"]) == ("exited", ranks, STEPS)
    for rank, count in zip(job["ranks"], bench.counts(), strict=True):
        assert {name: rank["predicted"][name] for name in PREDICTED} == {
            name: count[name] for name in PREDICTED
        }
        assert {name: rank["measured"][name] for name in PREDICTED} == {
            name: count[name] for name in PREDICTED
        }
        assert (rank["what"], rank["allocator"]) == ("finished", None)
        assert rank["allocator_reason"] == "not available: CPU job"
        assert rank["measured"]["rest"] is None


@contextmanager
def running(bench: Workbench) -> Iterator[subprocess.Popen[bytes]]:
    """An endless job of two ranks; whatever is left of it is killed."""
    command = bench.command(bench.torchrun(2, "train.py", "fsdp2", str(ENDLESS)))
    launcher = subprocess.Popen(
        command, env=bench.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield launcher
    finally:
        for pid in (*(ring.header.pid for ring in bench.read()), launcher.pid):
            with_no_fuss(pid)
        launcher.wait()


def with_no_fuss(pid: int) -> None:
    """Kill a process of the test's own that may be gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def steps_of(snapshot: Snapshot) -> list[int]:
    return [rank.step or 0 for job in snapshot.jobs for rank in job.ranks]


def both_step(snapshot: Snapshot) -> bool:
    return len(steps_of(snapshot)) == 2 and min(steps_of(snapshot)) >= 2


def whats(job: JobView) -> list[What]:
    return [rank.verdict.what for rank in job.ranks]


def test_a_running_job_and_the_kill_of_one_of_its_ranks(
    bench: Workbench, watch: Callable[[Path, Callable[[Snapshot], bool]], Snapshot]
) -> None:
    with running(bench):
        seen = watch(bench.rings, both_step)
        (job,) = seen.jobs
        assert [rank.verdict.state for rank in job.ranks] == [RankState.RUNNING] * 2
        assert whats(job) == [What.NOTHING] * 2
        assert [difference.bytes for rank in job.ranks for difference in differences(rank)] == [0] * 6
        os.kill(job.ranks[1].identity.process.pid, signal.SIGKILL)
        (job,) = watch(bench.rings, lambda now: now.jobs[0].state is RankState.EXITED).jobs
        first, second = whats(job)
        assert second is What.KILLED
        assert first in (What.LOST_PEER, What.ENDED_BY_LAUNCHER)


def test_the_kill_of_the_launcher_orphans_the_ranks_and_they_go_on(
    bench: Workbench, watch: Callable[[Path, Callable[[Snapshot], bool]], Snapshot]
) -> None:
    with running(bench) as launcher:
        before = max(steps_of(watch(bench.rings, both_step)))
        launcher.kill()
        launcher.wait()
        seen = watch(bench.rings, lambda now: min(steps_of(now)) > before + 2)
        (job,) = seen.jobs
        assert [rank.verdict.state for rank in job.ranks] == [RankState.RUNNING] * 2
        assert whats(job) == [What.ORPHANED] * 2


def test_a_launcher_that_is_told_to_stop_ends_its_ranks(
    bench: Workbench, watch: Callable[[Path, Callable[[Snapshot], bool]], Snapshot]
) -> None:
    with running(bench) as launcher:
        watch(bench.rings, both_step)
        launcher.terminate()
        (job,) = watch(bench.rings, lambda now: now.jobs[0].state is RankState.EXITED).jobs
        assert set(whats(job)) <= {What.ENDED_BY_LAUNCHER, What.LOST_PEER, What.KILLED_OR_ENDED}
        assert What.KILLED not in whats(job)
