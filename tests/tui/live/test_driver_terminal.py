"""The live screen on a real terminal beside a driver that is well, slow, hangs for ever or breaks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fake_nvml.binding import uuid_of
from live_rings import GIB, MadeUpJob
from terminal.pseudo_terminal import ROOT, PseudoTerminal, Setup, environment

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND = [sys.executable, "-m", "scaletui", "live", "--dir"]
TESTS = Path(__file__).parents[2]
PATHS = (TESTS / "fake_nvml" / "as_pynvml", TESTS, ROOT / "engine", ROOT / "tui", ROOT / "themes")
FIGURES = {
    "allocated": 28 * GIB, "reserved": 36 * GIB, "active": 30 * GIB, "inactive_split": 2 * GIB,
    "allocated_peak_seen": 32 * GIB, "driver_free": 39 * GIB, "driver_total": 80 * GIB,
    "weights_device": 10 * GIB, "optimizer_device": 20 * GIB,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A fifo that every call of the driver waits for, and that nobody ever writes to."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


def setup(columns: int = 80, rows: int = 24, **driver: object) -> Setup:
    """A terminal in whose program `pynvml` is the stand-in."""
    variables = {f"FAKE_NVML_{name.upper()}": str(value) for name, value in driver.items()}
    return Setup(columns, rows, {"PYTHONPATH": os.pathsep.join(map(str, PATHS)), **variables})


def text_of(terminal: PseudoTerminal) -> str:
    return "\n".join(terminal.screen().lines)


def test_gpus_without_a_job_are_listed(folder: Path) -> None:
    with PseudoTerminal([*COMMAND, str(folder)], setup()) as terminal:
        terminal.wait_for("? help")
        terminal.wait_for("8 GPUs")
        terminal.wait_for(" 40.0/80.0 97 %  612 W 67 C  no rank")
        assert "no job found" in text_of(terminal)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50)])
def test_three_layers_and_their_sums(folder: Path, columns: int, rows: int) -> None:
    gpu = {"device_type": "cuda", "device_uuid": uuid_of(0), "device_index": 0}
    with (
        MadeUpJob(folder, 1, **gpu) as job,
        PseudoTerminal([*COMMAND, str(folder)], setup(columns, rows)) as terminal,
    ):
        job.step(1, **FIGURES)
        terminal.wait_for("? help")
        terminal.wait_for("step 1")
        terminal.send(b"g")
        terminal.wait_for("outside PyTorch 4.0 GiB (context, NCCL, others)")
        for part in (
            "driver 40.0 GiB = reserved 36.0 GiB",
            "inactive split 2.0 GiB",
            "free segments 4.0 GiB",
        ):
            terminal.wait_for(part)
        terminal.wait_until(lambda: bool(re.search(r"0 W\s+O.*-+=+X", text_of(terminal))), "the bar")
        terminal.send(b"g")
        terminal.wait_until(lambda: "free segments" not in text_of(terminal), "the ranks")
        assert "rank 0" in text_of(terminal)


def test_reports_nvtop_139_a_key_is_answered_while_the_driver_never_answers(folder: Path, gate: Path) -> None:
    """An order of events and no time: nobody opens the gate, and the key is answered."""
    with PseudoTerminal([*COMMAND, str(folder)], setup(gate=gate)) as terminal:
        terminal.wait_for("? help")
        terminal.wait_for("searched")
        terminal.send(b"?")
        terminal.wait_for("Every GPU as the driver sees it")
        terminal.send(b"\x1b")
        terminal.wait_until(lambda: "Every GPU" not in text_of(terminal), "the end of the help")
        terminal.send(b"g")
        terminal.wait_for("GPUs")
        assert "H100" not in text_of(terminal)


def test_rings_go_on_while_the_driver_never_answers(folder: Path, gate: Path) -> None:
    with (
        MadeUpJob(folder) as job,
        PseudoTerminal([*COMMAND, str(folder)], setup(gate=gate)) as terminal,
    ):
        for step in (1, 2, 3):
            job.step(step, weights_host=60)
            terminal.wait_for(f"step {step} ")
        assert "GPU 0" not in text_of(terminal), "nothing has come from the driver"


def test_closing_with_a_driver_that_hangs_leaves_nothing(folder: Path, gate: Path) -> None:
    with PseudoTerminal([*COMMAND, str(folder)], setup(gate=gate)) as terminal:
        terminal.wait_for("? help")
        terminal.wait_for("searched")
        terminal.send(b"q")
        assert terminal.wait_exit() == 0
        assert terminal.is_restored()


def test_a_driver_that_hangs_is_told_as_one(folder: Path, gate: Path) -> None:
    with PseudoTerminal([*COMMAND, str(folder)], setup(gate=gate)) as terminal:
        terminal.wait_for("? help")
        terminal.wait_for("NVML: no answer")
        assert "no job found" in text_of(terminal)


def test_a_driver_that_breaks_is_told_and_the_screen_stays_whole(folder: Path) -> None:
    with (
        MadeUpJob(folder) as job,
        PseudoTerminal([*COMMAND, str(folder)], setup(mode="dies")) as terminal,
    ):
        job.step(1, weights_host=60)
        terminal.wait_for("? help")
        terminal.wait_for("step 1 ")
        terminal.send(b"g")
        terminal.wait_for("NVML: broke down (AttributeError")
        assert "Traceback" not in text_of(terminal)
        job.step(2, weights_host=60)
        terminal.wait_for("step 2 ")


def test_report_ptys_nothing_is_written_when_no_figure_changes(folder: Path) -> None:
    with PseudoTerminal([*COMMAND, str(folder)], setup(120, 40)) as terminal:
        terminal.wait_for("? help")
        terminal.wait_for("8 GPUs")
        terminal.wait_quiet(1.5)
        assert terminal.bytes_during(3) == 0


@pytest.mark.parametrize("count", [8, 16, 72])
def test_reports_btop_1707_and_851_every_gpu_can_be_reached_at_80x24(folder: Path, count: int) -> None:
    with PseudoTerminal([*COMMAND, str(folder)], setup(count=count)) as terminal:
        terminal.wait_for(f"{count} GPUs")
        terminal.send(b"g")
        terminal.wait_for("GPU 0")
        shown = len(re.findall(r"(?m)^.\s*\d+ P", text_of(terminal)))
        assert (f", {count - shown} more" in text_of(terminal)) is (shown < count)
        terminal.send(b"\x1b[B" * (count - 1))
        terminal.wait_for(f"GPU {count - 1} ")
        terminal.wait_for(uuid_of(count - 1))
        assert re.search(rf"(?m)^.\s*{count - 1} P", text_of(terminal))


def test_an_interval_that_is_too_short_is_said(folder: Path) -> None:
    with PseudoTerminal([*COMMAND, str(folder), "--interval", "0.05"], setup()) as terminal:
        terminal.wait_for("--interval 0.05")
        terminal.wait_for("every 0.1 s")
        terminal.wait_for("? help")
        terminal.wait_for("8 GPUs")
        assert "--interval 0.05" in text_of(terminal)


def test_reports_gpustat_54_and_netdata_14522_no_program_is_run(folder: Path) -> None:
    """Neither nvidia-smi nor anything else: an audit hook sees every process that Python starts."""
    script = (
        "import sys\n"
        "def watch(event, arguments):\n"
        "    if event in ('subprocess.Popen', 'os.exec', 'os.posix_spawn', 'os.fork', 'os.system'):\n"
        "        print('STARTED', event, arguments)\n"
        "sys.addaudithook(watch)\n"
        "from scaletui.cli import main\n"
        "sys.exit(main(['live', '--once', '--dir', sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        env=environment(setup()), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 GPUs" in done.stdout
    assert "STARTED" not in done.stdout


@pytest.fixture
def printed(folder: Path) -> Callable[..., str]:
    """What `live --once` prints with a driver of that kind."""

    def run(**driver: object) -> str:
        command = [*COMMAND, str(folder), "--once"]
        done = subprocess.run(
            command, env=environment(setup(**driver)), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def test_once_says_why_there_are_no_gpus(printed: Callable[..., str]) -> None:
    assert "NVML: not available: no NVIDIA driver (NVML Shared Library Not Found)" in printed(
        mode="no driver"
    )


def test_once_says_unified_memory_and_no_share_of_it(printed: Callable[..., str]) -> None:
    text = printed(mode="unified", count=1)
    row = next(line for line in text.splitlines() if "97 %" in line)
    assert re.search(r"unified memory: host \d+\.\d GiB, \d+\.\d GiB free|unified: host \d+\.\d GiB", row)
    assert re.findall(r"\d+ %|/", row) == ["97 %"], "the load, and no share of any memory"
