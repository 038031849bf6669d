"""The command line under shells, terminals and words that nobody plans for: a line and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from scaletui import cli
from scaletui.arguments import help_width
from scaletui.commands import scenario_file, screen
from scaletui.text.language import set_language
from scaletui.text.printable import printable
from scaletui_engine.scenario_file import dump
from scaletui_engine.scenarios import load_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LLAMA = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "8")
VALUED = (
    "--scenario", "--model", "--gpu", "--gpus", "--tp", "--strategy", "--micro-batch", "--seq", "--schedule",
    "--layer-split", "--stage", "--solve", "--compare", "--lang", "--theme", "--fps",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    yield
    set_language("en")


def complaint(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one line of an input that cannot be used."""
    assert cli.main(argv) == cli.UNUSABLE_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err.rstrip("\n")


@pytest.mark.parametrize("option", VALUED)
def test_two_dashes_are_no_value(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"{option} wants a value" in complaint(capsys, "memory", *LLAMA, "--timeline", f"{option}=--")


@pytest.mark.parametrize("option", ["--ascii", "--no-mouse", "--json", "--check"])
def test_a_switch_takes_no_value(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"{option} takes no value" in complaint(capsys, "memory", *LLAMA, f"{option}=yes")


@pytest.mark.parametrize(
    ("fps", "words"),
    [
        ("0", "--fps 0 < 1; nearest valid: --fps 1"),
        ("241", "--fps 241 > 240; nearest valid: --fps 240"),
        ("9" * 400, f"--fps {'9' * 20}... > 240; nearest valid: --fps 240"),
    ],
    ids=["none", "many", "more than a float holds"],
)
def test_frames_have_a_least_and_a_most(fps: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in complaint(capsys, "budget", "--fps", fps)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plan.toml", "plan.toml"),
        ("a b\u00e9", "a b\u00e9"),
        ("a\nb", "a\\nb"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\udcff", "\\udcff"),
        ("\u202e", "\\u202e"),
    ],
    ids=ascii,
)
def test_what_cannot_be_shown_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("option", ["--scenario", "--compare"])
@pytest.mark.parametrize("name", ["no\nsuch.toml", "no\x1b[31m.toml", "./no\u202e.toml"], ids=ascii)
def test_names_of_files_stay_on_the_line(option: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = () if option == "--scenario" else LLAMA
    line = complaint(capsys, "memory", *scenario, option, name)
    assert line == f"scaletui: {printable(name)}: No such file or directory"


def test_a_pipe_that_nobody_writes_into_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scenario_file, "WRITER_S", 0.0)
    os.mkfifo(tmp_path / "pipe")
    line = complaint(capsys, "memory", "--scenario", str(tmp_path / "pipe"))
    assert line == f"scaletui: {tmp_path / 'pipe'}: nobody writes into this pipe"


@pytest.mark.parametrize("wait_s", [0.0, 5.0], ids=["slow writer", "quick writer"])
def test_a_pipe_is_read_to_its_end(
    wait_s: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a shell's <(...) hands it over."""
    monkeypatch.setattr(scenario_file, "WRITER_S", wait_s)
    reader, writer = os.pipe()
    text = dump(load_scenario("llama3-70b-16"))
    thread = Thread(target=_write_all, args=(writer, text.encode()))
    thread.start()
    assert cli.main(["memory", "--scenario", f"/dev/fd/{reader}", "--json"]) == 0
    thread.join()
    os.close(reader)
    assert json.loads(capsys.readouterr().out)["model"] == "llama3-70b"


def _write_all(writer: int, data: bytes) -> None:
    with os.fdopen(writer, "wb") as file:
        file.write(data)


@pytest.mark.parametrize("columns", ["0", "1", "2", "5", "20", "-3", "1000", "many"])
@pytest.mark.parametrize("argv", [["--help"], ["memory", "--help"], ["memory", *LLAMA], ["names", "gpu"]])
def test_any_width_gets_its_lines(
    columns: str, argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    try:
        code = cli.main(argv)
    except SystemExit as left:
        code = left.code
    assert code == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") > 3
    assert captured.err == ""


@pytest.mark.parametrize(("columns", "width"), [("1", 38), ("40", 38), ("41", 39), ("200", 198)])
def test_help_is_never_narrower_than_its_longest_words(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert help_width() == width


@pytest.mark.parametrize(
    ("encoding", "lacks"), [("utf-8", False), ("UTF-16", False), ("ascii", True), ("latin-1", True)]
)
def test_a_screen_draws_with_what_can_be_written(encoding: str, lacks: bool) -> None:
    with TextIOWrapper(BytesIO(), encoding=encoding) as stream:
        assert screen.lacks_unicode(stream) == lacks
    assert not screen.lacks_unicode(None)


@pytest.mark.parametrize(
    ("terminal", "more", "kept"),
    [
        ((80, 24), {}, {}),
        ((0, 0), {}, {"COLUMNS": "20", "LINES": "9"}),
        ((80, 24), {"TEXTUAL_DRIVER": "x"}, {"COLUMNS": "20", "LINES": "9", "TEXTUAL_DRIVER": "x"}),
    ],
    ids=["terminal", "no size", "browser"],
)
def test_an_exported_size_gives_way_to_the_terminals(
    terminal: tuple[int, int], more: dict[str, str], kept: dict[str, str]
) -> None:
    environ = {"COLUMNS": "20", "LINES": "9"} | more
    screen.without_exported_size(environ, terminal)
    assert environ == kept


def shell(line: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A line of sh in which $S is this program."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("engine", "tui", "themes"))
    clean = {"PATH": os.defpath, "PYTHONPATH": paths, "LC_ALL": "C"}
    command = f'S="{sys.executable} -m scaletui"\n{line}'
    return subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env=clean | environ,
        cwd=ROOT,
    )


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (
            "$S memory --nope >&-",
            2,
            "scaletui: unknown argument: --nope; scaletui memory --help tells more\n",
        ),
        ("$S --version >&-", 0, ""),
        ("$S memory --nope 2>&-", 2, ""),
        ("$S --version <&- >&- 2>&-", 0, ""),
        ("$S memory --nope 2>/dev/full", 2, ""),
        ("$S --version >/dev/full", 2, "scaletui: [Errno 28] No space left on device\n"),
        ("$S --help >/dev/full", 2, "scaletui: [Errno 28] No space left on device\n"),
        ("$S memory --help >/dev/full", 2, "scaletui: [Errno 28] No space left on device\n"),
        ("$S budget </dev/null", 2, None),
    ],
)
def test_streams_that_are_closed_or_full(line: str, code: int, said: str | None) -> None:
    done = shell(line)
    assert (done.returncode, done.stdout) == (code, "")
    assert said is None or done.stderr == said
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1", "LC_ALL": "pt_BR"},
        {"LC_ALL": "xx_YY.nothing"},
        {"TERM": "dumb", "NO_COLOR": ""},
        {"HOME": "/nonexistent", "TMPDIR": "/nonexistent"},
    ],
    ids=str,
)
def test_poor_surroundings_get_the_whole_report(environ: dict[str, str]) -> None:
    done = shell("$S memory " + " ".join(LLAMA), **environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert "llama3-8b" in done.stdout
    assert done.stdout.count("\n") > 10
