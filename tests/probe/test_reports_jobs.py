"""Public reports about live monitors that take a running job; test_reports.py has the table of all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from probe.fake_torch import FAKE_TORCH, put_torch
from probe.sources import sources_with
from probe.workbench import TIMEOUT_S, Workbench
from terminal.pseudo_terminal import PseudoTerminal

import scaletui_probe
from scaletui_engine.live.process import Life
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_probe.header import RingFormatError
from scaletui_probe.layout import Event, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 60.0
"""How long an event may take to happen on a busy machine; nothing is asserted about it."""
PAUSE = threading.Event()

# 25

FORKED = """
import multiprocessing, os, pathlib, sys, threading, torch
optimizer = torch.optim.optimizer.Optimizer()

def train(steps):
    for _ in range(steps):
        optimizer.step()

def waited(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def ring():
    (path,) = pathlib.Path(os.environ["SCALETUI_DIR"]).glob("*.ring")
    return path.read_bytes()

train(1)
assert threading.active_count() == 1
before = ring()
child = os.fork()
if not child:
    train(5)
    sys.exit(3)
assert waited(child) == 3
workers = [multiprocessing.get_context("fork").Process(target=train, args=(5,)) for _ in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert [worker.exitcode for worker in workers] == [0] * 4
assert ring() == before
train(1)
"""
"""One child leaves as a script does, four as DataLoader makes workers (torch/utils/data/dataloader.py)."""


def pythons() -> list[str]:
    """This Python, and the newest other one that warns of forks beside threads (3.12)."""
    managed = sorted(Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python"))
    return [sys.executable, *map(str, managed[-1:])]


@pytest.mark.parametrize("python", pythons())
def test_pytorch_138957_a_fork_in_hooks_mode_warns_of_nothing_and_leaves_the_ring(
    tmp_path: Path, python: str
) -> None:
    """Warnings are printed: CPython lets the one of forks beside threads go where it would be an error."""
    put_torch(tmp_path, FAKE_TORCH)
    autostart = Path(str(scaletui_probe.__file__)).parent / "autostart"
    environ = {
        "PYTHONPATH": f"{autostart}:{tmp_path}",
        "SCALETUI_DIR": str(tmp_path / "rings"),
        "SCALETUI_MODE": "hooks",
        "SCALETUI_INTERVAL": "0.1",
    }
    done = subprocess.run([python, "-W", "always", "-c", FORKED], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (ring,) = Workbench(tmp_path / "rings", tmp_path).read()
    assert ring.last(Kind.STEP).measures.get("step") == 2
    assert [record.event for record in ring.records[Kind.EVENT]] == [Event.START, Event.EXIT]


# 26


def test_pytorch_149502_no_hook_of_all_modules_is_ever_registered() -> None:
    """Counted in a job too: test_single_process.py, test_no_module_of_the_job_is_hooked."""
    assert sources_with(r"register_module_(full_)?(forward|backward)|_global_(forward|backward)") == []


# 29

WORKED = """
import subprocess, sys, torch
optimizer = torch.optim.optimizer.Optimizer()
worker = subprocess.Popen([sys.executable, "-c", "x = bytearray(300 << 20); print(1, flush=True); input()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
worker.stdout.readline()
optimizer.step()
worker.communicate(b"\\n")
"""


def test_wandb_10464_5202_host_memory_is_in_bytes_and_of_the_rank_alone(tmp_path: Path) -> None:
    put_torch(tmp_path, FAKE_TORCH)
    bench = Workbench(tmp_path / "rings", tmp_path)
    outcome = bench.run([sys.executable, "-c", WORKED], PYTHONPATH=str(tmp_path))
    (ring,) = outcome.rings
    resident = ring.last(Kind.STEP).measures.get("host_rss")
    assert resident is not None
    assert 4 << 20 < resident < 200 << 20


# 30


def job_of(folder: Path) -> list[str]:
    code = (
        "import torch, time\n"
        "optimizer = torch.optim.optimizer.Optimizer()\n"
        "while True:\n    optimizer.step()\n    time.sleep(0.01)\n"
    )
    return [sys.executable, "-m", "scaletui", "run", "--dir", str(folder), "--", sys.executable, "-c", code]


def until(happened: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, "it never came true"
        PAUSE.wait(0.01)


def steps(bench: Workbench) -> int:
    """The newest step; 0 while there is no ring, or one that is being made."""
    try:
        rings = bench.read()
    except RingFormatError:
        return 0
    return max(
        (ring.last(Kind.STEP).measures.get("step") or 0 for ring in rings if ring.records[Kind.STEP]),
        default=0,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP], ids=lambda value: value.name)
def test_traceml_orphans_a_viewer_that_is_ended_leaves_nothing_and_the_job_alone(
    bench: Workbench, number: signal.Signals
) -> None:
    put_torch(bench.out, FAKE_TORCH)
    environ = bench.environment(PYTHONPATH=str(bench.out))
    with started(job_of(bench.rings), environ) as job:
        until(lambda: steps(bench) > 0)
        viewer = [sys.executable, "-m", "scaletui", "live", "--dir", str(bench.rings)]
        with PseudoTerminal(viewer) as terminal:
            terminal.wait_for("step")
            group = terminal.process.pid
            os.kill(group, number)
            terminal.wait_exit()
            assert processes_of_session(group) == []
        before = steps(bench)
        until(lambda: steps(bench) > before)
        assert job.poll() is None


@contextmanager
def started(words: list[str], environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is killed at the end, where it has not ended."""
    with subprocess.Popen(words, env=environ) as process:
        try:
            yield process
        finally:
            process.kill()


def processes_of_session(session: int) -> list[str]:
    """Processes that the viewer's terminal session still has."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(entry.parent.name)
    return found


def test_traceml_orphans_run_is_no_process_beside_the_job(bench: Workbench) -> None:
    words = [sys.executable, "-c", "import os; print(os.getpid())"]
    with subprocess.Popen(
        bench.command(words), env=bench.environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        printed, _ = process.communicate(timeout=PATIENCE_S)
    assert int(printed) == process.pid


# 31

CYCLES = 50
"""Steps too: one between two viewers."""
SOAKED = ("fsdp2", "mixed", "fsdp1-flat")
SOAK_STEPS = 16


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """Jobs with neither probe nor viewer."""
    place = tmp_path_factory.mktemp("alone")
    bench = Workbench(place / "rings", place / "out")
    bench.out.mkdir()
    words = bench.torchrun(2, "train.py", str(CYCLES), *SOAKED)
    subprocess.run(words, env=bench.environment(SCALETUI_DISABLE="1"), check=True, timeout=TIMEOUT_S)
    return bench


@pytest.mark.torch
def test_hypno_on_fsdp2_ranks_fifty_viewers_change_no_bit_of_the_losses(
    bench: Workbench, alone: Workbench
) -> None:
    """One comes and goes in every step of a job that makes the next one when the viewer has gone."""
    os.mkfifo(bench.out / "turns")
    words = bench.torchrun(2, "turns.py", str(CYCLES), "fsdp2")
    with started(bench.command(words), bench.environment()) as job:
        with open(bench.out / "turns", "wb", buffering=0) as turns:
            until(lambda: len(list(bench.rings.glob("*.ring"))) == 2)
            for _ in range(CYCLES):
                source = RingSource(str(bench.rings))
                found = source.poll(Moment(time.monotonic_ns(), time.time_ns())).rings
                source.close()
                assert [ring.rank.life for ring in found] == [Life.ALIVE] * 2
                turns.write(b"1")
        assert job.wait(timeout=TIMEOUT_S) == 0
    assert losses(bench, "fsdp2") == losses(alone, "fsdp2")
    assert [len(rank) for rank in losses(bench, "fsdp2")] == [CYCLES] * 2


def losses(bench: Workbench, shape: str, steps: int = CYCLES) -> list[list[str]]:
    """Of every step, rank by rank, to the last bit."""
    files = [bench.out / f"{shape}.rank{rank}.json" for rank in (0, 1)]
    return [json.loads(file.read_text())["losses"][:steps] for file in files]


@pytest.mark.torch
def test_hypno_on_fsdp2_ranks_a_thread_that_samples_without_pause_changes_no_bit_of_the_losses(
    bench: Workbench, alone: Workbench
) -> None:
    """A sample that touched what PyTorch alone holds would crash the job or mix its gradients up."""
    outcome = bench.run(bench.torchrun(2, "soak.py", str(SOAK_STEPS), *SOAKED))
    assert outcome.code == 0, outcome.output
    for shape in SOAKED:
        assert losses(bench, shape) == losses(alone, shape, SOAK_STEPS)
        assert [len(rank) for rank in losses(bench, shape)] == [SOAK_STEPS] * 2
    assert len(outcome.rings) == 2 * len(SOAKED)
    assert {ring.last(Kind.EVENT).errors for ring in outcome.rings} == {0}
    assert min(len(ring.records[Kind.SAMPLE]) for ring in outcome.rings) >= SOAK_STEPS, "one a step"
