"""`scaletui probe`: files beside the packages of an environment, and their removal."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from argparse import ArgumentParser
from pathlib import Path

import pytest

from scaletui.commands import probe
from scaletui_engine.errors import ParseError
from scaletui_probe import install
from scaletui_probe.process import start_ticks

FILES = ("scaletui_probe_start.py", "scaletui_probe.pth", "scaletui_probe.start")
ARMED = "import sys; print('scaletui_probe.arming' in sys.modules, any('scaletui' in p for p in sys.path))"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python of its own, without scaletui."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False)
    return str(place / "bin" / "python")


def command(*words: str) -> int:
    parser = ArgumentParser()
    probe.add_arguments(parser)
    return probe.run(parser.parse_args(words))


def armed(python: str, **variables: str) -> str:
    done = subprocess.run(
        [python, "-c", ARMED], capture_output=True, text=True, check=True, env={**os.environ, **variables}
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_install_arms_and_remove_takes_everything_back(
    python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(probe.packages_folder(python))
    before = sorted(folder.iterdir())
    assert armed(python) == "False False"
    assert command("install", "--python", python) == 0
    assert "arms the probe of" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} - {path.name for path in before} == set(FILES)
    assert armed(python) == "True False"
    assert armed(python, SCALETUI_DISABLE="1") == "False False"
    assert command("remove", "--python", python) == 0
    assert [path for path in sorted(folder.iterdir()) if path.name != "__pycache__"] == before
    assert armed(python) == "False False"


@pytest.mark.parametrize(
    ("present", "sentence"),
    [
        pytest.param((), "not installed in", id="nothing"),
        pytest.param(FILES[:1], "scaletui_probe.pth, scaletui_probe.start missing", id="a-part"),
    ],
)
def test_status_says_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    present: tuple[str, ...], sentence: str,
) -> None:  # fmt: skip
    for name in present:
        (tmp_path / name).write_text("")
    monkeypatch.setattr(probe, "packages_folder", lambda _python: str(tmp_path))
    assert command("status") == 0
    assert sentence in capsys.readouterr().out


def test_removing_nothing_is_no_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probe, "packages_folder", lambda _python: str(tmp_path))
    assert command("remove") == 0
    assert "nothing to remove" in capsys.readouterr().out


def test_the_start_file_names_a_callable_that_may_be_called_twice(tmp_path: Path) -> None:
    """Python 3.15 resolves `module:callable`, and may call it once for each folder of packages."""
    install.install(str(tmp_path))
    entry = (tmp_path / "scaletui_probe.start").read_text().strip()
    code = f"""
import pkgutil, sys
sys.path.insert(0, {str(tmp_path)!r})
entry = pkgutil.resolve_name({entry!r})
entry(); entry()
print(sum("OptimizerWatch" in repr(finder) for finder in sys.meta_path))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_a_probe_that_is_gone_leaves_python_alone(tmp_path: Path) -> None:
    text = install._texts("/no/such/folder")["scaletui_probe_start.py"]
    (tmp_path / "scaletui_probe_start.py").write_text(text)
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    code = path + "import scaletui_probe_start; scaletui_probe_start.arm(); print(1)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("1", "")


@pytest.mark.parametrize(
    "script", [pytest.param(None, id="no-file"), pytest.param("#!/bin/sh\n", id="says-nothing")]
)
def test_a_file_that_is_no_python_is_refused(script: str | None, tmp_path: Path) -> None:
    python = tmp_path / "python"
    if script is not None:
        python.write_text(script)
        python.chmod(0o755)
    with pytest.raises(ParseError, match="is no Python that runs"):
        probe.packages_folder(str(python))


@pytest.mark.parametrize("action", ["install", "remove"])
def test_a_pid_goes_with_no_other_action(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ParseError, match=f"--pid goes with status, not with {action}"):
        command(action, "--pid", str(os.getpid()))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("has_ring", "code", "sentence"),
    [
        pytest.param(True, 0, "has a ring", id="with-a-ring"),
        pytest.param(False, 1, "scaletui puts no code into a running process", id="without"),
    ],
)
def test_a_running_process_is_never_injected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], has_ring: bool, code: int, sentence: str
) -> None:
    pid = os.getpid()
    if has_ring:
        (tmp_path / f"r00000.p{pid}.{start_ticks(pid)}.ring").write_text("")
    assert command("status", "--pid", str(pid), "--dir", str(tmp_path)) == code
    assert sentence in capsys.readouterr().out
