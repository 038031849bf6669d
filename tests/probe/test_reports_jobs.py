"""Public reports about live monitors that take a running job; test_reports.py has the table of all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from probe.fake_torch import FAKE_TORCH, put_torch
from probe.sources import sources_with
from probe.workbench import TIMEOUT_S, Workbench
from terminal.pseudo_terminal import PseudoTerminal

import scaletui_probe
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_probe.layout import Event, Kind

PATIENCE_S = 60.0
"""How long an event may take to happen on a busy machine; nothing is asserted about it."""
PAUSE = threading.Event()

# 25

FORKED = """
import os, torch
optimizer = torch.optim.optimizer.Optimizer()
optimizer.step()
child = os.fork()
if not child:
    optimizer.step()
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
optimizer.step()
"""


def pythons() -> list[str]:
    """This Python, and the newest other one that warns of forks beside threads (3.12)."""
    managed = sorted(Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python"))
    return [sys.executable, *map(str, managed[-1:])]


@pytest.mark.parametrize("python", pythons())
def test_pytorch_138957_a_fork_in_hooks_mode_warns_of_nothing_and_leaves_the_ring(
    tmp_path: Path, python: str
) -> None:
    put_torch(tmp_path, FAKE_TORCH)
    autostart = Path(str(scaletui_probe.__file__)).parent / "autostart"
    environ = {
        "PYTHONPATH": f"{autostart}:{tmp_path}",
        "SCALETUI_DIR": str(tmp_path / "rings"),
        "SCALETUI_MODE": "hooks",
    }
    done = subprocess.run(
        [python, "-W", "error::DeprecationWarning", "-c", FORKED], env=environ, capture_output=True, text=True
    )
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
    rings = bench.read() if any(bench.rings.glob("*.ring")) else []
    return max((ring.last(Kind.STEP).measures.get("step") or 0 for ring in rings), default=0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP], ids=lambda value: value.name)
def test_traceml_orphans_a_viewer_that_is_ended_leaves_nothing_and_the_job_alone(
    bench: Workbench, number: signal.Signals
) -> None:
    put_torch(bench.out, FAKE_TORCH)
    environ = bench.environment(PYTHONPATH=str(bench.out))
    with subprocess.Popen(job_of(bench.rings), env=environ) as job:
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
        job.kill()


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

CYCLES, STEPS = 50, 60


@pytest.mark.torch
def test_hypno_on_fsdp2_ranks_fifty_viewers_change_no_bit_of_the_losses(tmp_path: Path) -> None:
    """A viewer only reads: the losses of every step are those of a job with neither probe nor viewer."""
    watched, alone = (Workbench(tmp_path / name / "rings", tmp_path / name) for name in ("watched", "alone"))
    for bench in (watched, alone):
        bench.rings.mkdir(parents=True, mode=0o700)
    words = watched.torchrun(2, "train.py", str(STEPS), "fsdp2")
    with subprocess.Popen(watched.command(words), env=watched.environment()) as job:
        until(lambda: len(list(watched.rings.glob("*.ring"))) == 2)
        for _ in range(CYCLES):
            source = RingSource(str(watched.rings))
            assert len(source.poll(Moment(time.monotonic_ns(), time.time_ns())).rings) == 2
            source.close()
        assert job.wait(timeout=TIMEOUT_S) == 0
    control = alone.torchrun(2, "train.py", str(STEPS), "fsdp2")
    subprocess.run(control, env=alone.environment(SCALETUI_DISABLE="1"), check=True, timeout=TIMEOUT_S)
    assert losses(watched) == losses(alone)
    assert [len(rank) for rank in losses(watched)] == [STEPS] * 2


def losses(bench: Workbench, shape: str = "fsdp2") -> list[list[str]]:
    """Of every step, rank by rank, to the last bit."""
    files = [bench.out / f"{shape}.rank{rank}.json" for rank in (0, 1)]
    return [json.loads(file.read_text())["losses"] for file in files]


SOAKED = ("fsdp2", "mixed", "fsdp1-flat")
SOAK_STEPS = 40


@pytest.mark.torch
def test_hypno_on_fsdp2_ranks_a_thread_that_samples_without_pause_changes_no_bit_of_the_losses(
    tmp_path: Path,
) -> None:
    """A sample that touched what PyTorch alone holds would crash the job or mix its gradients up."""
    sampled, alone = (Workbench(tmp_path / name / "rings", tmp_path / name) for name in ("sampled", "alone"))
    for bench in (sampled, alone):
        bench.out.mkdir()
    outcome = sampled.run(sampled.torchrun(2, "soak.py", str(SOAK_STEPS), *SOAKED))
    assert outcome.code == 0, outcome.output
    control = alone.torchrun(2, "train.py", str(SOAK_STEPS), *SOAKED)
    subprocess.run(control, env=alone.environment(SCALETUI_DISABLE="1"), check=True, timeout=TIMEOUT_S)
    for shape in SOAKED:
        assert losses(sampled, shape) == losses(alone, shape)
    assert len(outcome.rings) == 2 * len(SOAKED)
    assert {ring.last(Kind.EVENT).errors for ring in outcome.rings} == {0}
    assert min(len(ring.records[Kind.SAMPLE]) for ring in outcome.rings) >= SOAK_STEPS, "one a step"
