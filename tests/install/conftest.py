"""The distribution, built once, and fresh environments to install it in, without asking any registry.

A fresh environment sees the libraries of the environment that runs the tests (numpy, textual), and scaletui
only as installed from what is tested.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
USER_MODULES = ("engine", "tui", "themes", "live", "catalog")
"""Names that a training project has for itself."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A fresh environment with scaletui in it, and a user's project to run it from."""

    folder: Path
    project: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def run(self, *words: str | Path) -> str:
        """Standard output of a program of the environment, run in the user's project."""
        program = self.folder / "bin" / words[0]
        return _run([program, *words[1:]], cwd=self.project)


def _run(command: list[str | Path], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env={"LC_ALL": "C"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--sdist", "--outdir", out, ROOT]
    _run(command, cwd=out)
    return out


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Environment]:
    """Makes an environment in which pip has installed what it is given."""

    def make(*what: str | Path) -> Environment:
        home = tmp_path_factory.mktemp("fresh")
        fresh = Environment(home / "env", _project(home / "project"))
        venv.create(fresh.folder, with_pip=False, symlinks=True)
        purelib = _run(
            [fresh.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], cwd=home
        )
        libraries = Path(purelib.strip()) / "libraries.pth"
        libraries.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--python", fresh.python, "install", "--quiet", "--no-deps"]
        _run([*pip, "--no-index", "--no-build-isolation", *what], cwd=home)
        return fresh

    return make


def _project(folder: Path) -> Path:
    """A project with modules of the names that our folders have in the repository."""
    for name in USER_MODULES[:-1]:
        package = folder / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f'OWNER = "the user\'s {name}"\n', encoding="utf-8")
    (folder / f"{USER_MODULES[-1]}.py").write_text('OWNER = "a module"\n', encoding="utf-8")
    return folder
