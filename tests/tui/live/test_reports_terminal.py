"""Reports 1, 4, 23 and 30 on real terminals: what is started, written and left behind.

    1   nvitop#134, nvtop#149             pids of another namespace, on the command line
    4   gpustat#54, netdata#14522         the screen starts no program; `live --once`: test_driver_terminal.py
    23  gpustat#100; tmux#2901, #4610     rows that go leave nothing, in `tmux -2` too; bytes through it
    30  traceml's orphans                 the demo's screen; `live` itself: tests/probe/test_reports_jobs.py

tests/probe/test_reports.py has the table of all.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from fake_nvml.binding import uuid_of
from live_rings import MadeUpJob
from terminal.pseudo_terminal import ROOT, PseudoTerminal, Setup, environment
from terminal.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TESTS = ROOT / "tests"
LIVE = [sys.executable, "-m", "scaletui", "live", "--dir"]
STATES = {"weights_host": 60, "gradients_host": 60, "optimizer_host": 124}
LONG_OVER = {"created_wall_ns": 1, "created_monotonic_ns": 1, "pid_start_ticks": 1}
"""A header of a process that ended in another time: nothing of its job moves any more."""
TMUX = ("status off", "status-interval 0", "automatic-rename off", "default-terminal tmux-256color")
ESCAPE_MODE = b"\x1b[?7727h"
"""What tmux writes now and then of its own accord, though no program wrote anything."""
KEPT = ("r00000", "r00001", "r00002")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


def take_away(folder: Path) -> None:
    """Every ring but those of three ranks goes."""
    for ring in folder.iterdir():
        if not ring.name.startswith(KEPT):
            ring.unlink()


# 1


def test_nvitop_134_nvtop_149_a_pid_of_another_namespace_is_the_ranks_and_no_failure(folder: Path) -> None:
    gpu = {"device_type": "cuda", "device_uuid": uuid_of(0), "device_index": 0}
    paths = (TESTS / "fake_nvml" / "as_pynvml", TESTS, *(ROOT / name for name in ("engine", "tui", "themes")))
    variables = {"PYTHONPATH": ":".join(map(str, paths)), "FAKE_NVML_MODE": "foreign", "COLUMNS": "120"}
    with MadeUpJob(folder, 1, **gpu) as job:
        job.step(1, allocated=20 << 30, reserved=25 << 30, active=20 << 30, weights_device=9 << 30)
        setup = environment(Setup(environment=variables))
        printed = [
            subprocess.run([*LIVE, str(folder), "--once", *form], env=setup, capture_output=True, text=True)
            for form in ((), ("--json",))
        ]
    assert [(done.returncode, done.stderr) for done in printed] == [(0, "")] * 2
    rows = [line for line in printed[0].stdout.splitlines() if "pid not in this namespace" in line]
    assert len(rows) == 8
    assert [row for row in rows if "no rank" not in row] == rows[:1]
    assert "rank 0, pid" in rows[0]
    processes = [gpu["processes"][0] for gpu in json.loads(printed[1].stdout)["drivers"]]
    assert [process["rank"] for process in processes] == [0] + [None] * 7
    assert {process["in_this_namespace"] for process in processes} == {False}


# 4

WATCHED = """
import os, sys
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def watch(event, arguments):
    if event in ('subprocess.Popen', 'os.exec', 'os.posix_spawn', 'os.fork', 'os.forkpty', 'os.system'):
        os.write(out, f'{event} {arguments}\\n'.encode())
sys.addaudithook(watch)
os.write(out, b'watched\\n')
from scaletui.cli import main
sys.exit(main(['live', '--dir', sys.argv[2]]))
"""


def test_gpustat_54_netdata_14522_no_program_is_started_however_long_one_looks(
    folder: Path, tmp_path: Path
) -> None:
    """An audit hook sees every process that Python starts; three steps are three looks at least."""
    started = tmp_path / "started"
    command = [sys.executable, "-c", WATCHED, str(started), str(folder)]
    with MadeUpJob(folder, 1) as job, PseudoTerminal(command) as terminal:
        for step in (1, 2, 3):
            job.step(step, **STATES)
            terminal.wait_for(f"step {step} ")
        terminal.send(b"q")
        assert terminal.wait_exit() == 0
    assert started.read_text() == "watched\n"


# 23


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50)])
def test_gpustat_100_rows_that_go_leave_nothing_behind(folder: Path, columns: int, rows: int) -> None:
    """What is shown then is what a viewer shows that never saw them, cell by cell."""
    setup, command = Setup(columns, rows), [*LIVE, str(folder)]
    with MadeUpJob(folder, 12, **LONG_OVER), PseudoTerminal(command, setup) as terminal:
        settle(terminal)
        before = terminal.screen().lines
        assert any("rank 4" in line for line in before)
        take_away(folder)
        terminal.wait_until(
            lambda: not any("rank 4" in line for line in terminal.screen().lines), "fewer rows"
        )
        terminal.wait_quiet()
        with PseudoTerminal(command, setup) as fresh:
            settle(fresh)
            assert terminal.screen().visible == fresh.screen().visible


def settle(terminal: PseudoTerminal) -> None:
    """Wait for the picture of a job that is over, and take its alert away: that tells how many fell."""
    terminal.wait_for("? help")
    terminal.wait_for("no word")
    terminal.send(b"a")
    terminal.wait_until(lambda: "a seen" not in "".join(terminal.screen().lines), "the end of the alert")
    terminal.wait_quiet()


class Tmux:
    """A program in a tmux of its own whose client, started with -2, is on a pseudo-terminal."""

    def __init__(self, socket: Path, command: list[str]) -> None:
        self._socket = str(socket)
        configuration = socket.with_suffix(".conf")
        configuration.write_text("".join(f"set -g {option}\n" for option in TMUX))
        client = ["tmux", "-2", "-u", "-S", self._socket, "-f", str(configuration), "new-session", *command]
        self.terminal = PseudoTerminal(client, Setup(environment={"TMUX": ""}))

    def __enter__(self) -> Tmux:
        self.terminal.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], check=False, capture_output=True)
        self.terminal.__exit__()

    def picture(self, *options: str) -> str:
        """What tmux holds for the screen; with -e its colours too."""
        words = ["tmux", "-S", self._socket, "capture-pane", "-p", *options]
        return subprocess.run(words, check=False, capture_output=True, text=True).stdout

    def pipe_to(self, path: Path) -> Path:
        """From now on a copy of what the program writes goes there."""
        words = ["tmux", "-S", self._socket, "pipe-pane", f"cat > '{path}'"]
        subprocess.run(words, check=True)
        self.terminal.wait_until(path.exists, "the copy")
        self.terminal.wait_quiet()
        return path

    def cells(self) -> list[list[tuple[str, str]]]:
        """What of it can be seen."""
        return Screen(80, 24).feed(self.picture("-e", "-N").replace("\n", "\r\n").encode()).visible

    def wait_for(self, condition: Callable[[str], bool]) -> None:
        """Read what the client writes until tmux shows something."""
        self.terminal.wait_until(lambda: condition(self.picture()), "a picture in tmux")

    def settle(self) -> None:
        """As `settle`."""
        self.wait_for(lambda picture: "? help" in picture and "no word" in picture)
        self.terminal.send(b"a")
        self.wait_for(lambda picture: "a seen" not in picture)
        self.terminal.wait_quiet()


if shutil.which("tmux"):

    @pytest.fixture
    def tmux(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[str]], Tmux]:
        place = tmp_path_factory.mktemp("tmux")
        return lambda command: Tmux(place / f"s{len(list(place.iterdir()))}", command)

    def test_tmux_2901_4610_rows_that_go_leave_nothing_behind_in_tmux(
        folder: Path, tmux: Callable[[list[str]], Tmux]
    ) -> None:
        command = [*LIVE, str(folder)]
        with MadeUpJob(folder, 12, **LONG_OVER), tmux(command) as old:
            old.settle()
            assert "rank 4" in old.picture()
            take_away(folder)
            old.wait_for(lambda picture: "rank 4" not in picture)
            old.terminal.wait_quiet()
            with tmux(command) as fresh:
                fresh.settle()
                assert old.cells() == fresh.cells()

    def test_tmux_5403_nothing_is_written_through_tmux_when_nothing_changes(
        folder: Path, tmp_path: Path, tmux: Callable[[list[str]], Tmux]
    ) -> None:
        """Neither by the program to tmux nor by tmux to the terminal."""
        with MadeUpJob(folder, 2, **LONG_OVER), tmux([*LIVE, str(folder)]) as shown:
            shown.settle()
            written = shown.pipe_to(tmp_path / "written")
            mark = len(shown.terminal.output)
            shown.terminal.bytes_during(2)
            assert written.read_bytes() == b""
            assert shown.terminal.since(mark).replace(ESCAPE_MODE, b"") == b""

    def test_trzsz_ssh_207_a_step_costs_no_more_than_a_frame_through_tmux(
        folder: Path, tmux: Callable[[list[str]], Tmux]
    ) -> None:
        """tmux draws anew what changed: what scaletui does not write, tmux need not either."""
        with MadeUpJob(folder, 8) as job, tmux([*LIVE, str(folder)]) as shown:
            job.plan()
            job.step(1, **STATES)
            shown.wait_for(lambda picture: "step 1" in picture and "? help" in picture)
            shown.terminal.wait_quiet(0.3)
            for step in (2, 3, 4):
                mark = len(shown.terminal.output)
                job.step(step, **{**STATES, "gradients_host": 60 * (step % 2)})
                shown.wait_for(lambda picture, step=step: f"step {step} " in picture)
                assert 0 < len(shown.terminal.since(mark)) <= 4096
