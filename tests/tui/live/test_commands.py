"""`scaletui live` and `scaletui demo` on the command line, without a screen and without a job."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import TYPE_CHECKING

import pytest
from live_rings import MadeUpJob

from scaletui.cli import main
from scaletui.commands import demo
from scaletui.commands.live import age_s
from scaletui_engine.errors import ParseError

if TYPE_CHECKING:
    from pathlib import Path

STATES = {"weights_host": 60, "gradients_host": 60, "optimizer_host": 124}
RANK_KEYS = {
    "rank", "state", "step", "step_time_s", "age_s", "measured_at_step", "measured", "now", "predicted",
    "allocator", "allocator_reason",
}  # fmt: skip
PARTS = {"weights", "gradients", "optimizer", "master_weights", "buffers", "unsharded", "rest"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


def test_json_holds_what_scripts_rely_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with MadeUpJob(folder) as job:
        job.plan()
        job.step(7, **STATES)
        assert main(["live", "--once", "--json", "--dir", str(folder)]) == 0
    (found,) = json.loads(capsys.readouterr().out)["jobs"]
    assert (found["id"], found["state"], found["world_size"]) == ("made-up", "running", 2)
    for number, rank in enumerate(found["ranks"]):
        assert rank.keys() >= RANK_KEYS
        assert rank["measured"].keys() == rank["now"].keys() == rank["predicted"].keys() == PARTS
        assert (rank["rank"], rank["step"], rank["step_time_s"], rank["measured_at_step"]) == (
            number,
            7,
            0.4,
            7,
        )
        assert rank["predicted"]["optimizer"] == rank["measured"]["optimizer"] == 124
        assert (rank["allocator"], rank["allocator_reason"]) == (None, "not available: CPU job")
        assert rank["measured"]["rest"] is None
        assert 0 <= rank["age_s"] < 600


def test_json_without_a_job_says_where_it_looked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["live", "--json", "--dir", str(folder)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {name: printed[name] for name in ("jobs", "searched", "unreadable")} == {
        "jobs": [],
        "searched": [{"path": str(folder), "rings": 0, "problem": None}],
        "unreadable": [],
    }
    assert [source["name"] for source in printed["sources"]] == ["rings", "NVML"]


def test_the_folder_comes_from_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCALETUI_DIR", str(folder))
    assert main(["live", "--once", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["searched"][0]["path"] == str(folder)


def test_text_in_ascii(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with MadeUpJob(folder) as job:
        job.plan()
        job.step(7, **STATES)
        assert main(["--ascii", "live", "--once", "--dir", str(folder)]) == 0
    text = capsys.readouterr().out
    assert text.isascii()
    assert "as predicted, to the byte" in text


def test_clean_removes_old_rings_and_keeps_running_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MadeUpJob(folder, 1), MadeUpJob(folder, 1, pid_start_ticks=1):
        for name in os.listdir(folder):
            os.utime(folder / name, (0, 0))
        assert main(["live", "--clean", "--older-than", "12h", "--dir", str(folder)]) == 0
        said = capsys.readouterr().out
        assert main(["live", "--clean", "--older-than", "12h", "--dir", str(folder)]) == 0
    assert "1 ring removed" in said
    assert "1 of running jobs, 0 of jobs that ended less than 12h ago" in capsys.readouterr().out
    assert len(os.listdir(folder)) == 1


@pytest.mark.parametrize(
    ("text", "seconds"), [("45s", 45), ("30m", 1800), ("12h", 43_200), ("7d", 604_800), ("0d", 0)]
)
def test_ages(text: str, seconds: float) -> None:
    assert age_s(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1w", "1.5d", "99999999d"])
def test_no_ages(text: str) -> None:
    with pytest.raises(ParseError, match="is no age"):
        age_s(text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo"], "missing: kind"),
        (["demo", "zero"], "none of"),
        (["demo", "fsdp", "--ranks", "0"], "--ranks 0 is not in 1 to 64"),
        (["demo", "ddp", "--ranks", "65"], "--ranks 65 is not in 1 to 64"),
        (["demo", "fsdp", "--steps", "-1"], "--steps -1 < 0"),
        (["live", "--clean", "--older-than", "soon"], "--older-than soon is no age"),
        (["live", "--clean", "--older-than", "-1d"], "--older-than -1d is no age"),
        (["live", "--once", "--dir", "/nope"], "/nope: No such file or directory"),
        (["live", "--json", "--dir", "/nope"], "/nope: No such file or directory"),
        (["live", "--csv", "--dir", "/nope"], "/nope: No such file or directory"),
        (["live", "--once", "--dir", "/dev/null"], "/dev/null is a link or a file, not a folder"),
        (["live", "--csv", "--jsonl"], "--jsonl"),
        (["live", "--out", "x.csv"], "--out x.csv wants --csv or --jsonl with it"),
        (["live", "--once", "--record", "x.rec"], "--record x.rec keeps on looking"),
        (["live", "--no-screen"], "--no-screen without --record FILE"),
        (["live", "--record", "/nope/x.rec", "--no-screen"], "/nope/x.rec: No such file or directory"),
        (["live", "--record", "x.rec", "--no-screen", "--for", "soon"], "--for soon is no age"),
        (["live", "--for", "5s"], "--for 5s wants --record FILE --no-screen with it"),
        (["live", "--record", "x.rec", "--for", "5s"], "--for 5s wants --record FILE --no-screen with it"),
        (["live", "--interval", "0"], "--interval 0 is not in 0.1 to 3600"),
        (["live", "--interval", "nan"], "--interval nan is not in 0.1 to 3600"),
        (["live", "--pid", "-1"], "--pid -1 < 1"),
        (["probe", "status", "--pid", "-1"], "--pid -1 < 1"),
        (["replay", "/nope.rec"], "/nope.rec: No such file or directory"),
        (["replay", "/dev/null", "--csv"], "/dev/null is not a file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_somebody_elses_folder_without_rings_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As another user sees a folder of root's in which only root may write."""
    folder.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 4_242)
    os.chown(folder, 0, 0) if os.getuid() == 0 else None
    assert main(["live", "--once", "--dir", str(folder)]) == 2
    error = capsys.readouterr().err
    assert f"{folder} belongs to user" in error
    assert error.count("\n") == 1


def test_a_process_without_a_ring_is_told_why_and_what_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", "--once", "--pid", str(os.getpid()), "--dir", str(folder)]) == 1
    said = capsys.readouterr().out
    assert f"process {os.getpid()} has no ring" in said
    assert "scaletui run -- CMD" in said


def test_the_rows_of_a_look(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with MadeUpJob(folder) as job:
        job.plan()
        job.step(7, **STATES)
        assert main(["live", "--csv", "--dir", str(folder)]) == 0
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert main(["live", "--jsonl", "--dir", str(folder)]) == 0
        objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        out = tmp_path / "look.csv"
        assert main(["live", "--csv", "--out", str(out), "--dir", str(folder)]) == 0
        assert main(["live", "--csv", "--out", str(out), "--dir", str(folder)]) == 2
    assert [(row["rank"], row["step"], row["measured_optimizer_bytes"]) for row in rows] == [
        ("0", "7", "124"), ("1", "7", "124"),
    ]  # fmt: skip
    assert rows[0].keys() == objects[0].keys()
    assert [(item["rank"], item["allocator_peak_bytes"], item["step_time_s"]) for item in objects] == [
        (0, None, 0.4), (1, None, 0.4),
    ]  # fmt: skip
    assert len(out.read_text().splitlines()) == 3


def test_without_torch_the_demo_names_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _name: None)
    assert main(["demo", "fsdp"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'scaletui[torch]'" in error
    assert error.count("\n") == 1
