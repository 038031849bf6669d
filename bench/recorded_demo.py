"""Records the job that `scaletui replay` plays when it is given no file: four ranks of FSDP2 on this CPU.

`python bench/recorded_demo.py [FILE]`. One rank is killed, torchrun starts all of them again, and the second
attempt comes to its end. Names of this machine and its folders do not go into the file.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scaletui import __version__
from scaletui.commands.replay import SHIPPED
from scaletui.live.watcher import Watcher
from scaletui_engine.live.evidence import RankState
from scaletui_engine.live.recording.writer import Recorder

if TYPE_CHECKING:
    from scaletui_engine.live.snapshot import JobView, RankView, Snapshot

RANKS: Final = 4
VICTIM: Final = 2
KILLED_AT: Final = 40
"""The step at which the victim is killed."""
STEPS: Final = (400, 60)
"""Of the first attempt, which does not get there, and of the second."""
LARGEST: Final = 300_000
"""Bytes of the file."""
_JOB: Final = Path(__file__).with_name("recorded_demo_job.py")


def main(path: Path) -> int:
    """Run the job, look at it, and put the file in its place when it is what it should be."""
    with tempfile.TemporaryDirectory(prefix="scaletui-") as room:
        script = shutil.copy(_JOB, Path(room) / "train.py")
        rings, wanted = Path(room) / "rings", Path(room) / "new.rec"
        recorder, watcher = Recorder(str(wanted), __version__), Watcher(str(rings))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(_command(rings, script), cwd=room, env=_environ(), **quiet) as job:
            watcher.run(_Director(recorder).take, lambda: job.poll() is not None)
            recorder.take(_anonymous(watcher.look()))
        watcher.close()
        recorder.close()
        print(f"{recorder.looks} looks, {recorder.bytes} bytes, job ended with code {job.returncode}")
        if job.returncode or recorder.bytes > LARGEST:
            return 1
        shutil.copyfile(wanted, path)
    return 0


class _Director:
    """Records every look, and kills the victim when its time has come."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._is_done = False
        self._empty: Snapshot | None = None
        """The last look before there was a job: the ones before it show nothing."""

    def take(self, look: Snapshot) -> None:
        if not look.jobs and not self._recorder.looks:
            self._empty = look
            return
        if self._empty is not None:
            self._recorder.take(_anonymous(self._empty))
            self._empty = None
        self._recorder.take(_anonymous(look))
        for job in look.jobs:
            if not self._is_done and job.attempt == 0 and (job.step or 0) >= KILLED_AT:
                victim = next(rank for rank in job.ranks if rank.identity.rank == VICTIM)
                if victim.verdict.state is RankState.RUNNING:
                    os.kill(victim.identity.process.pid, signal.SIGKILL)
                    self._is_done = True


def _environ() -> dict[str, str]:
    """One thread a rank, and the loopback for what they say to each other."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def _command(rings: Path, script: str) -> list[str]:
    """As a person starts a job with the probe in it."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]
    steps = [str(count) for count in STEPS]
    run = [sys.executable, "-m", "scaletui", "run", "--dir", str(rings), "--"]
    return [*run, *torchrun, "--max-restarts=1", script, *steps]


def _anonymous(look: Snapshot) -> Snapshot:
    """The look without the names of this machine."""
    jobs = tuple(_job(job) for job in look.jobs)
    places = tuple(replace(place, path="/tmp/scaletui-1000", detail="") for place in look.places)
    return replace(look, jobs=jobs, places=places, faults=())


def _job(job: JobView) -> JobView:
    return replace(job, ranks=tuple(_rank(rank) for rank in job.ranks))


def _rank(rank: RankView) -> RankView:
    identity = replace(
        rank.identity,
        host="node-a", boot_id="boot", uid=1000, command="python train.py", working_folder="/home/student",
    )  # fmt: skip
    return replace(rank, path=f"/tmp/scaletui-1000/r{identity.rank}.ring", identity=identity)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED))
