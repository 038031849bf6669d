"""Recording without a screen, also of a job whose recorder is killed; and replays without a screen."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from live_rings import MadeUpJob

from scaletui.cli import main
from scaletui.commands.replay import SHIPPED
from scaletui_engine.live.evidence import What
from scaletui_engine.live.recording.marks import MarkKind
from scaletui_engine.live.recording.reader import Recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STATES = {"weights_host": 60, "gradients_host": 60, "optimizer_host": 124}
PATIENCE_S = 60.0
LARGEST = 300_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def recorder(folder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [
        "live",
        "--no-screen",
        "--interval",
        "0.1",
        "--record",
        str(tmp_path / "x.rec"),
        "--dir",
        str(folder),
    ]
    environ = {**os.environ, "LC_ALL": "C"}
    process = subprocess.Popen(
        [sys.executable, "-m", "scaletui", *command, "--interval", "0.1"],
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    )
    yield process
    process.kill()
    process.communicate()


def wait_for_bytes(path: Path, more_than: int) -> int:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        size = path.stat().st_size if path.exists() else 0
        if size > more_than:
            return size
        threading.Event().wait(0.02)
    pytest.fail(f"{path} never had more than {more_than} bytes")


def test_a_recorder_that_is_killed_leaves_what_it_saw(
    folder: Path, tmp_path: Path, recorder: subprocess.Popen[str]
) -> None:
    path, size = tmp_path / "x.rec", 0
    with MadeUpJob(folder) as job:
        for step in range(1, 6):
            job.step(step, **STATES)
            size = wait_for_bytes(path, size)
        recorder.kill()
        recorder.wait()
    with Recording(str(path)) as recording:
        assert recording.looks >= 3
        steps = [recording.look(number).jobs for number in range(recording.looks)]
        assert [jobs[0].step for jobs in steps if jobs][-1] in (4, 5)


def test_ctrl_c_ends_a_recording_in_order(
    folder: Path, tmp_path: Path, recorder: subprocess.Popen[str]
) -> None:
    with MadeUpJob(folder) as job:
        job.step(1, **STATES)
        wait_for_bytes(tmp_path / "x.rec", 1_000)
        recorder.send_signal(signal.SIGINT)
        said, _ = recorder.communicate(timeout=PATIENCE_S)
    assert recorder.returncode == 0
    assert "recorded" in said
    with Recording(str(tmp_path / "x.rec")) as recording:
        assert recording.damage == ""


def test_a_recording_of_a_while(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.rec"
    with MadeUpJob(folder) as job:
        job.step(3, **STATES)
        command = ["live", "--no-screen", "--for", "1s", "--record", str(path), "--dir", str(folder)]
        assert main(command) == 0
        assert "recorded" in capsys.readouterr().out
        assert main(command) == 2
        assert "exists already" in capsys.readouterr().err
    with Recording(str(path)) as recording:
        assert recording.look(recording.looks - 1).jobs[0].step == 3


def test_a_replay_as_rows_objects_and_text(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(path), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert main(["replay", str(path), "--jsonl"]) == 0
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == len(objects) == 2 * 21
    assert [item["step"] for item in objects[::2]] == list(range(21))
    assert rows[-2]["events"] == "oom exception"
    assert (rows[0]["gpu_used_bytes"], rows[0]["gpu_temperature_c"]) == (str(60 << 30), "")
    assert objects[0]["gpu_power_w"] == 700.0
    assert main(["replay", str(path), "--json"]) == 0
    (job,) = json.loads(capsys.readouterr().out)["jobs"]
    assert job["post_mortem"]["out_of_memory_rank"] == 0
    assert main(["replay", str(path), "--once"]) == 0
    assert "how it ended" in capsys.readouterr().out


def test_a_torn_file_is_told_and_told_from(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_bytes(path.read_bytes()[:-5])
    assert main(["replay", str(path), "--jsonl"]) == 0
    captured = capsys.readouterr()
    assert "cut at byte" in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out.count("\n") == 2 * 21


def test_every_column_has_a_unit_and_a_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--columns"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line.split(None, 2)) == 3 for line in lines)
    for line in lines:
        name, unit, _ = line.split(None, 2)
        assert name.endswith("_bytes") is (unit == "bytes")


def test_the_shipped_recording_is_small_and_tells_a_story() -> None:
    assert SHIPPED.stat().st_size < LARGEST
    with Recording(str(SHIPPED)) as recording:
        assert recording.damage == ""
        kinds = [mark.kind for mark in recording.marks]
        for kind in (MarkKind.START, MarkKind.DEATH, MarkKind.RESTART, MarkKind.EXIT):
            assert kind in kinds
        last = recording.look(recording.looks - 1)
        (job,) = last.jobs
        assert [rank.verdict.what for rank in job.ranks] == [What.FINISHED] * 4
        assert {rank.plan is not None and rank.plan.wrapper for rank in job.ranks} == {"fsdp2"}
        assert {rank.identity.host for rank in job.ranks} == {"node-a"}
