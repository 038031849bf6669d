"""The command line as a person meets it: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import scaletui
from scaletui import cli, commands
from scaletui.commands import screen
from scaletui.text.language import set_language

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parents[1] / "golden"
LLAMA = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "8")
DESIGNED = {
    "budget", "schedule", "sharding", "live", "memory", "shard", "ranks", "traffic", "simulate", "run",
    "demo", "lesson", "probe", "collective", "replay", "names",
}  # fmt: skip
"""The names that scripts may rely on."""


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(Path(__file__).parents[2])
    yield
    set_language("en")


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["bugdet"], "unknown command 'bugdet', did you mean 'budget'?"),
        (["memory", "--nope"], "unknown argument: --nope; scaletui memory --help tells more"),
        (
            ["memory", "--modle", "x"],
            r"unknown argument: --modle x, did you mean --model\? scaletui memory --help tells more",
        ),
        (["lesson", "zzz"], "unknown argument: zzz; scaletui lesson --help tells more"),
        (["memory", "--model"], "--model wants a value; scaletui memory --help tells more"),
        (["memory", *LLAMA, "--tp", "two"], "--tp: 'two' is not a whole number like 8192 or 8k"),
        (
            ["memory", *LLAMA, "--strategy", "zero9"],
            "--strategy: unknown strategy 'zero9', did you mean 'zero\\d'",
        ),
        (["memory", "--model", "llama3-8b"], "no --scenario FILE, so these are needed: --gpu --gpus"),
        (["memory", "--model", "llama9", *LLAMA[2:]], "--model: unknown model 'llama9', did you mean"),
        (["memory", *LLAMA, "--tp", "3"], "tp 3 does not divide the cluster's 8 GPUs"),
        (["memory", *LLAMA, "--offload", "x"], "unknown offload 'x', not one of none, optimizer, params"),
        (["memory", *LLAMA, "--precision", "bf17"], "--precision: unknown precision 'bf17'"),
        (["memory", "--scenario", "no/such.toml"], "no/such.toml: No such file or directory"),
        (["memory", "--scenario", "tests"], "tests: Is a directory"),
        (["memory", "--scenario", "README.md"], "README.md: not TOML: .* line 3"),
        (["memory", "--scenario", "/dev/zero"], "/dev/zero: larger than 1 MiB"),
        (["memory", "--scenario", "lessom-7b"], "unknown scenario 'lessom-7b'"),
        (["--lang", "de"], "--lang: 'de' is none of .*pt-BR"),
        (["budget", "--fps", "0"], "--fps 0 < 1; nearest valid: --fps 1"),
        (["--fps", "many"], "--fps: 'many' is not a whole number"),
        (["--lang", "pt-BR", "memory", "--nope"], "argumento desconhecido: --nope; scaletui memory --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_unusable_input_is_one_line_and_two(
    argv: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(argv) == cli.UNUSABLE_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert re.search(f"^scaletui: .*{line}", captured.err)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"scaletui {scaletui.__version__}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    for name in commands.MODULES:
        assert re.search(rf"^  {name} +\S", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 80


def test_commands_are_those_that_were_promised() -> None:
    assert set(commands.MODULES) <= DESIGNED


@pytest.mark.parametrize("name", commands.MODULES)
@pytest.mark.parametrize("lang", ["en", "pt-BR"])
def test_help_of_every_command_fits_eighty_columns(
    name: str, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main([name, "--help", "--lang", lang])
    out = capsys.readouterr().out
    assert out.startswith(("usage: ", "uso: ")[lang != "en"])
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("place", [0, 1, 8], ids=["before", "after", "at the end"])
def test_global_options_stand_anywhere(place: int, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["memory", *LLAMA]
    argv[place:place] = ["--lang", "pt-BR"]
    assert cli.main(argv) == 0
    assert "pesos" in capsys.readouterr().out


def test_what_follows_two_dashes_is_left_alone() -> None:
    options, rest = cli._global_options(["run", "--ascii", "--", "train", "--lang", "x", "--help"])
    assert rest == ["run", "--", "train", "--lang", "x", "--help"]
    assert (options.lang, options.ascii) == (None, True)


def test_memory_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["memory", *LLAMA, "--pp", "2", "--json", "--lang", "pt-BR"]) == 0
    budget = json.loads(capsys.readouterr().out)
    assert list(budget)[:4] == ["model", "params", "params_active", "gpu"]
    assert (budget["model"], budget["params"], budget["gpu"]) == ("llama3-8b", 8030261248, "h100-sxm")
    assert [stage["stage"] for stage in budget["stages"]] == [0, 1]
    peak = budget["stages"][budget["peak_stage"]]
    assert budget["peak_bytes"] == peak["peak_bytes"] == sum(peak["parts"].values())
    needed = peak["reserved_bytes"][1] + peak["outside_bytes"][1]
    assert budget["headroom_bytes"] == budget["capacity_bytes"] - needed
    assert budget["fits"] == (budget["headroom_bytes"] >= 0)


@pytest.mark.parametrize(
    ("gpu", "check", "code"),
    [("h200-sxm", ["--check"], 0), ("t4", ["--check"], 1), ("t4", [], 0)],
    ids=["fits", "does not fit", "nobody asked"],
)
def test_check(gpu: str, check: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["memory", "--model", "llama3-8b", "--gpu", gpu, "--gpus", "8", *check]
    assert cli.main(argv) == code
    assert capsys.readouterr().out.splitlines()[3].startswith("does not fit" if gpu == "t4" else "fits")


@pytest.mark.parametrize("pp", [1, 4])
@pytest.mark.parametrize("lang", ["en", "pt-BR"])
@pytest.mark.parametrize("ascii_only", [True, False], ids=["ascii", "unicode"])
def test_memory_report_fits_eighty_columns(
    pp: int, lang: str, ascii_only: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["memory", *LLAMA, "--pp", str(pp), "--lang", lang, *(["--ascii"] if ascii_only else [])]
    assert cli.main(argv) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert not ascii_only or lang != "en" or out.isascii()


def test_lesson_prints_the_lessons_own_lines(capsys: pytest.CaptureFixture[str]) -> None:
    lesson = (GOLDEN / "lesson" / "output.txt").read_text(encoding="utf-8")
    assert cli.main(["lesson", "--plain"]) == 0
    plain = capsys.readouterr().out
    assert _without_rounding(plain) == _without_rounding(lesson)
    assert cli.main(["lesson", "--lang", "pt-BR"]) == 0
    beside = [line.split("│")[0].rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in plain.splitlines() if line and line not in beside] == []


def _without_rounding(text: str) -> str:
    """The largest error of a split product depends on the BLAS: up to 5e-13 counts as the lesson's zero."""

    def zero(match: re.Match[str]) -> str:
        return "max_error=0" if float(match[1]) <= 5e-13 else match[0]

    return re.sub(r"max_error=([0-9.e+-]+)", zero, text)


def test_lesson_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lesson", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert {name: len(rows) for name, rows in tables.items()} == {
        "data_parallel": 4, "tensor_parallel": 4, "pipeline": 5, "memory": 7, "precision": 4,
    }  # fmt: skip
    assert tables["precision"][0]["lesson"]["savings_vs_fp32"] == 0.25
    assert tables["precision"][0]["corrected"]["savings_vs_fp32"] == 0
    assert tables["memory"][1]["corrected"]["model"] == "llama2-7b"


class Interrupted:
    """A command that ends as Ctrl-C or a closed pipe ends it."""

    HELP = "stop"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def add_arguments(self, parser: object) -> None:
        pass

    def run(self, args: object) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, ""),
        (
            PermissionError(13, "Permission denied", "plan.toml"),
            2,
            "scaletui: plan.toml: Permission denied\n",
        ),
        (OSError(28, "No space left on device"), 2, "scaletui: [Errno 28] No space left on device\n"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 2, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_how_a_command_can_end(
    error: BaseException,
    code: int,
    line: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(commands, "load", lambda name, words: Interrupted(error))
    assert cli.main(["memory"]) == code
    err = capsys.readouterr().err
    assert err.count("\n") == (code == 2)
    assert line is None or err == line


def test_a_reader_that_left_is_not_worth_a_word() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    paths = os.pathsep.join(str(GOLDEN.parents[1] / folder) for folder in ("engine", "tui", "themes"))
    done = subprocess.run(
        [sys.executable, "-m", "scaletui", "--version"],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (cli.BROKEN_PIPE, b"")


@pytest.mark.parametrize(
    ("environ", "words", "fps"),
    [({}, [], 10), ({"SSH_CONNECTION": "a b"}, [], 4), ({"SSH_TTY": "/dev/pts/3"}, ["--fps", "20"], 20)],
    ids=["here", "over ssh", "as asked"],
)
def test_frames_a_second(environ: dict[str, str], words: list[str], fps: int) -> None:
    options, _ = cli._global_options(["live", *words])
    options.command = "live"
    chosen = screen.screen_options(options, environ)
    assert (chosen.fps, chosen.mode, chosen.mouse) == (fps, "live", True)


@pytest.mark.parametrize(
    ("words", "module"),
    [
        ([], "scaletui.commands.schedule"),
        (["1f1b", "--stages", "4"], "scaletui.commands.schedule"),
        (["--scenario", "lesson-7b"], "scaletui.commands.schedule"),
        (["--model", "llama3-70b", "--pp", "4"], "scaletui.commands.screen"),
        (["--gpus=64"], "scaletui.commands.screen"),
    ],
)
def test_a_plan_after_schedule_asks_for_the_screen(words: list[str], module: str) -> None:
    assert vars(commands.load("schedule", words))["__name__"] == module
