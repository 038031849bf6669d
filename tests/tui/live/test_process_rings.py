"""Which rings belong to a process, by a made-up process table; and what the command line makes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from live_rings import MadeUpJob

from scaletui.cli import main
from scaletui.commands.probe_process import rings_of_environment, why_no_ring
from scaletui.commands.process_rings import rings_of
from scaletui_probe.process import start_ticks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLE = {
    # pid: (parent, start), two launchers with two ranks each, the second behind a shell; 12 has a worker
    1: (0, 1), 10: (1, 50), 11: (10, 60), 12: (10, 61), 13: (12, 70), 20: (1, 80), 21: (20, 81), 22: (21, 82),
    23: (21, 83), 30: (1, 90),
}  # fmt: skip
RINGS = ("r00000.p11.60", "r00001.p12.61", "r00000.p22.82", "r00001.p23.83", "r00000.p30.89", "r00000.p99.1")
"""That of 30 is of an earlier process of this number, and 99 is gone."""


@pytest.fixture
def proc(tmp_path: Path) -> str:
    for pid, (parent, start) in TABLE.items():
        place = tmp_path / "proc" / str(pid)
        place.mkdir(parents=True)
        fields = ["S", str(parent), *["0"] * 17, str(start), "0"]
        (place / "stat").write_text(f"{pid} (a (b) c) {' '.join(fields)}\n")
    return str(tmp_path / "proc")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


@pytest.mark.parametrize(
    ("pid", "found"),
    [
        pytest.param(12, [(1, 12)], id="a-rank"),
        pytest.param(10, [(0, 11), (1, 12)], id="its-launcher"),
        pytest.param(20, [(0, 22), (1, 23)], id="a-shell-above-a-launcher"),
        pytest.param(13, [(1, 12)], id="a-worker-of-a-rank"),
        pytest.param(30, [], id="another-process-of-that-number"),
        pytest.param(99, [], id="gone"),
    ],
)
def test_rings_of_a_process(folder: Path, proc: str, pid: int, found: list[tuple[int, int]]) -> None:
    for name in RINGS:
        (folder / f"{name}.ring").touch()
    (folder / "r0.ring").touch()
    assert [(ring.rank, ring.pid) for ring in rings_of(pid, folder, proc)] == found


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A child of this process."""
    code = "import signal; print(1, flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def test_only_the_job_of_the_process_is_printed(
    folder: Path, sleeper: int, capsys: pytest.CaptureFixture[str]
) -> None:
    child = {"pid": sleeper, "pid_start_ticks": start_ticks(sleeper)}
    with MadeUpJob(folder, job_id="asked-for", **child), MadeUpJob(folder, job_id="another"):
        main(["live", "--once", "--dir", str(folder)])
        assert "another" in capsys.readouterr().out
        assert main(["live", "--once", "--pid", str(sleeper), "--dir", str(folder)]) == 0
        text = capsys.readouterr().out
        assert main(["live", "--json", "--pid", str(sleeper), "--dir", str(folder)]) == 0
        (job,) = json.loads(capsys.readouterr().out)["jobs"]
    assert ("asked-for" in text, "another" in text, job["id"]) == (True, False, "asked-for")


def test_the_launcher_is_said_to_be_one_and_shows_its_ranks(
    folder: Path, sleeper: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """This process is above the sleeper, and has no ring of its own."""
    child = {"pid": sleeper, "pid_start_ticks": start_ticks(sleeper)}
    with MadeUpJob(folder, job_id="asked-for", **child):
        assert main(["live", "--once", "--pid", str(os.getpid()), "--dir", str(folder)]) == 0
        first, second = capsys.readouterr().out.splitlines()[:2]
        assert main(["probe", "status", "--pid", str(os.getpid()), "--dir", str(folder)]) == 0
        status = capsys.readouterr().out
    ranks = f"0 (process {sleeper}), 1 (process {sleeper})"
    said = f"process {os.getpid()} stands above ranks {ranks}"
    assert (first, "asked-for" in second) == (said, True)
    assert said in status
    assert f"process {sleeper} has a ring: {folder}/r00001" in status


def test_what_is_no_json_is_not_among_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["live", "--json", "--pid", str(os.getpid()), "--dir", str(folder)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"process {os.getpid()} has no ring" in captured.err


@pytest.fixture
def armed(proc: str, tmp_path: Path) -> str:
    """The table, in which the launcher 10 and its ranks were started by `scaletui run`."""
    environment = "HOME=/\0PYTHONPATH=/x/scaletui_probe/autostart:/y\0SCALETUI_DIR=/rings\0"
    for pid in TABLE:
        place = tmp_path / "proc" / str(pid)
        (place / "environ").write_text(
            environment if pid in (10, 11, 12) else "HOME=/\0SCALETUI_DIR=/rings\0"
        )
        (place / "exe").symlink_to("/usr/bin/python3.11")
    return proc


@pytest.mark.parametrize(
    ("pid", "folder", "reason"),
    [
        (10, "/rings", "it is a launcher: its processes 11, 12 have made no optimizer step yet"),
        (11, "/rings", "the probe is in it: a ring comes with its first optimizer step"),
        (20, "", "it is a Python that was started without the probe, or has not stepped an optimizer yet"),
        (99, "", "there is no process 99 here"),
    ],
)
def test_what_a_process_without_a_ring_waits_for(armed: str, pid: int, folder: str, reason: str) -> None:
    assert (rings_of_environment(pid, armed), why_no_ring(pid, armed)) == (folder, reason)


def test_a_ring_that_lies_elsewhere_is_pointed_at(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    environment = {**os.environ, "PYTHONPATH": "/x/scaletui_probe/autostart", "SCALETUI_DIR": elsewhere}
    code = "import signal; print(1, flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert main(["live", "--once", "--pid", str(process.pid), "--dir", str(folder)]) == 1
        process.kill()
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "the probe is in it: a ring comes with its first optimizer step",
        f"its ring lies in {elsewhere}: --dir {elsewhere}",
    ]
