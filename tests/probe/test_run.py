"""`scaletui run`: what it does to a command, and what it leaves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import venv
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scaletui.commands import run
from scaletui_engine.errors import ValueRangeError
from scaletui_probe.directory import DirectoryError

if TYPE_CHECKING:
    from probe.workbench import Workbench

IMPORTABLE = """
import importlib.util, sys
names = ("scaletui_probe", "scaletui_engine", "scaletui", "scaletui_themes", "numpy", "autostart")
print([name for name in names if name in sys.modules or importlib.util.find_spec(name)])
print([place for place in sys.path if "scaletui" in place or place.endswith("engine")])
"""


def environment(words: list[str], environ: dict[str, str]) -> dict[str, str]:
    parser = ArgumentParser()
    run.add_arguments(parser)
    return run.environment(parser.parse_args(words), environ)


@pytest.mark.parametrize(
    ("words", "variable", "value"),
    [
        pytest.param(["--micro-batch", "4"], "SCALETUI_MICRO_BATCH", "4", id="micro-batch"),
        pytest.param(["--seq", "2048"], "SCALETUI_SEQ", "2048", id="sequence"),
        pytest.param(["--mode", "hooks"], "SCALETUI_MODE", "hooks", id="mode"),
        pytest.param(["--interval", "0.25"], "SCALETUI_INTERVAL", "0.25", id="interval"),
        pytest.param([], "SCALETUI_MODE", None, id="nothing-said"),
    ],
)
def test_options_travel_in_the_environment(
    bench: Workbench, words: list[str], variable: str, value: str | None
) -> None:
    found = environment(["--dir", str(bench.rings), *words], {"HOME": "/h"})
    assert (found.get(variable), found["HOME"], found["SCALETUI_DIR"]) == (value, "/h", str(bench.rings))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, [], id="unset"),
        pytest.param({"PYTHONPATH": ""}, [], id="empty-adds-no-current-folder"),
        pytest.param({"PYTHONPATH": "/a:/b"}, ["/a", "/b"], id="the-jobs-own-stay-behind-ours"),
    ],
)
def test_one_folder_with_a_sitecustomize_goes_in_front(
    bench: Workbench, before: dict[str, str], after: list[str]
) -> None:
    first, *rest = environment(["--dir", str(bench.rings)], before)["PYTHONPATH"].split(os.pathsep)
    assert [path.name for path in Path(first).glob("*.py")] == ["sitecustomize.py"]
    assert rest == after


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--micro-batch", "0"], "--micro-batch 0 < 1", id="micro-batch"),
        pytest.param(["--seq", "-5"], "--seq -5 < 1", id="sequence"),
        pytest.param(["--interval", "1e30"], "> 3600; nearest valid: --interval 3600", id="interval-huge"),
        pytest.param(["--interval", "nan"], "--interval nan < 0.1", id="interval-nan"),
        pytest.param(["--interval", "0.05"], "0.05 < 0.1; nearest valid: --interval 0.1", id="interval"),
    ],
)
def test_values_without_meaning_are_refused(bench: Workbench, words: list[str], message: str) -> None:
    with pytest.raises(ValueRangeError, match=message):
        environment(["--dir", str(bench.rings), *words], {})


def test_an_open_folder_is_refused_before_the_job_starts(bench: Workbench) -> None:
    bench.rings.chmod(0o777)
    with pytest.raises(DirectoryError, match="others could write in it"):
        environment(["--dir", str(bench.rings)], {})


@pytest.mark.parametrize("code", [0, 3, 200])
def test_the_exit_code_is_the_commands(bench: Workbench, code: int) -> None:
    assert bench.run([sys.executable, "-c", f"raise SystemExit({code})"]).code == code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param([], "scaletui: 0 words after run --", id="no-command"),
        pytest.param([""], "scaletui: 0 words after run --", id="empty-command"),
        pytest.param(["no-such-command-here"], "no-such-command-here", id="unknown-command"),
    ],
)
def test_a_command_that_cannot_run_is_one_line_and_exit_2(
    bench: Workbench, words: list[str], message: str
) -> None:
    outcome = bench.run(words)
    assert outcome.code == 2
    assert message in outcome.output
    assert len(outcome.output.splitlines()) == 1


def test_the_command_takes_the_place_of_run(bench: Workbench) -> None:
    words = bench.command(["sh", "-c", "echo $$"])
    with subprocess.Popen(words, env=bench.environment(), stdout=subprocess.PIPE, text=True) as process:
        printed, _ = process.communicate(timeout=60)
    assert int(printed) == process.pid


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_reach_the_command(bench: Workbench, number: signal.Signals) -> None:
    words = bench.command(["sh", "-c", "trap 'exit 7' TERM INT HUP; echo ready; while :; do read line; done"])
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    # A shell cannot trap what was ignored when it began, as SIGINT is in a background job.
    streams["preexec_fn"] = lambda: signal.signal(number, signal.SIG_DFL)
    with subprocess.Popen(words, env=bench.environment(), **streams) as process:  # type: ignore[call-overload]
        process.stdout.readline()
        process.send_signal(number)
        process.communicate("\n", timeout=60)
    assert process.returncode == 7


def test_nothing_of_ours_but_the_probe_is_importable_in_a_python_of_its_own(
    bench: Workbench, tmp_path: Path
) -> None:
    venv.create(tmp_path / "other", with_pip=False)
    python = str(tmp_path / "other" / "bin" / "python")
    importable, on_path = bench.run([python, "-c", IMPORTABLE]).output.splitlines()
    assert (importable, on_path) == ("['scaletui_probe']", "[]")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        pytest.param("print('other sitecustomize')", "other sitecustomize", id="it-runs"),
        pytest.param("raise RuntimeError('broken')", "RuntimeError: broken", id="its-errors-are-told"),
        pytest.param("import no_such_module_here", "no_such_module_here", id="its-imports-may-fail"),
    ],
)
def test_the_jobs_own_sitecustomize_runs_too(
    bench: Workbench, tmp_path: Path, other: str, message: str
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(other)
    code = "import sys; print('armed', any('OptimizerWatch' in repr(f) for f in sys.meta_path))"
    outcome = bench.run([sys.executable, "-c", code], PYTHONPATH=str(folder), PYTHONVERBOSE="")
    assert "armed True" in outcome.output
    assert message in outcome.output


def test_a_job_without_torch_is_left_as_it_was(bench: Workbench) -> None:
    code = "import sys, json; print([name for name in sys.modules if 'scaletui' in name])"
    outcome = bench.run([sys.executable, "-c", code])
    assert outcome.output.strip() == "['scaletui_probe', 'scaletui_probe.arming']"
    assert outcome.rings == []


def test_the_probe_can_be_switched_off(bench: Workbench) -> None:
    outcome = bench.run(
        [sys.executable, "-c", "import sys; print('scaletui_probe' in sys.modules)"], SCALETUI_DISABLE="1"
    )
    assert outcome.output.strip() == "False"
