"""Real jobs under `scaletui run`: what a viewer makes of their rings, while they run and afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
    ("ranks", "shapes"),
    [
        pytest.param(2, ("fsdp2", "mixed", "tied", "accumulate", "frozen", "ddp", "ddp-tied"), id="2-ranks"),
        pytest.param(
            4,
            ("fsdp2", "hsdp", "hsdp-mixed", "hsdp-tied", "ddp-accumulate"),
            id="4-ranks-three-with-empty-shards",
        ),
    ],
)
def test_predicted_measured_and_counted_in_the_job_are_one(
    bench: Workbench, look_at_each: Callable[[Path], list[Snapshot]], ranks: int, shapes: tuple[str, ...]
) -> None:
    outcome = bench.run(bench.torchrun(ranks, "train.py", str(STEPS), *shapes))
    assert outcome.code == 0, outcome.output
    found = {rank["pid"]: rank for shown in look_at_each(bench.rings) for rank in one_rank(shown)}
    counts = {path.name: json.loads(path.read_text()) for path in bench.out.glob("*.json")}
    assert len(counts) == ranks * len(shapes)
    for name, count in counts.items():
        rank = found[count["pid"]]
        counted = {part: count[part] for part in PREDICTED}
        assert {part: rank["predicted"][part] for part in PREDICTED} == counted, name
        assert {part: rank["measured"][part] for part in PREDICTED} == counted, name
        assert (rank["state"], rank["what"], rank["step"]) == ("exited", "finished", STEPS)
        assert (rank["allocator"], rank["allocator_reason"]) == (None, "not available: CPU job")
        assert rank["measured"]["rest"] is None
        assert rank["measured"]["buffers"] == (None if name.startswith("ddp") else count["buffers"])


def one_rank(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The ranks of a snapshot as scripts get them."""
    return [rank for job in contract(snapshot)["jobs"] for rank in job["ranks"]]


@contextmanager
def running(bench: Workbench) -> Iterator[subprocess.Popen[bytes]]:
    """An endless job of two ranks; whatever is left of it is killed."""
    command = bench.command(bench.torchrun(2, "train.py", str(ENDLESS), "fsdp2"))
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
