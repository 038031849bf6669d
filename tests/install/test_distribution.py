"""Wheel, source distribution and editable install, each in a fresh environment beside a user's project."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import scaletui

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.install

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "scaletui_engine": "engine",
    "scaletui_probe": "engine",
    "scaletui": "tui",
    "scaletui_themes": "themes",
}
"""Import package -> the folder of the repository that holds it."""
DATA = (".json", ".toml", ".tcss", ".po", ".rec", ".typed")

QUESTIONS = """
import json, sys
import engine, tui, themes, live, catalog
import scaletui, scaletui_engine, scaletui_probe, scaletui_themes
from scaletui.text.language import set_language, tr
from scaletui_engine.catalog import gpu_ids, model_ids
from scaletui_engine.scenarios import scenario_ids
set_language("pt-BR")
print(json.dumps({
    "owners": [module.OWNER for module in (engine, tui, themes, live, catalog)],
    "homes": {m.__name__: m.__file__ for m in (scaletui, scaletui_engine, scaletui_probe, scaletui_themes)},
    "counts": [len(model_ids()) > 70, len(gpu_ids()) > 40, len(scenario_ids()) > 0],
    "portuguese": tr("weights"),
    "version": scaletui.__version__,
}))
"""


@pytest.fixture(scope="module", params=["wheel", "sdist", "editable"])
def installed(request: pytest.FixtureRequest, built: Path, environment: Callable[..., Any]) -> Any:
    """An environment with scaletui installed one of the three ways."""
    if request.param == "editable":
        return environment("--editable", ROOT)
    return environment(next(built.glob("*.whl" if request.param == "wheel" else "*.tar.gz")))


def test_commands_run(installed: Any) -> None:
    version = f"scaletui {scaletui.__version__}\n"
    assert installed.run("scaletui", "--version") == version
    assert installed.run("python", "-m", "scaletui", "--version") == version
    budget = installed.run(
        "scaletui", "memory", "--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "8", "--json"
    )
    assert json.loads(budget)["params"] == 8030261248


def test_it_stands_beside_modules_of_the_same_folder_names(installed: Any) -> None:
    answers = json.loads(installed.run("python", "-c", QUESTIONS))
    assert answers["owners"] == [
        "the user's engine", "the user's tui", "the user's themes", "the user's live", "a module",
    ]  # fmt: skip
    assert set(answers["homes"]) == set(PACKAGES)
    assert answers["counts"] == [True, True, True]
    assert answers["portuguese"] == "pesos"
    assert answers["version"] == scaletui.__version__


def test_only_an_editable_install_reads_the_repository(
    installed: Any, request: pytest.FixtureRequest
) -> None:
    answers = json.loads(installed.run("python", "-c", QUESTIONS))
    editable = request.node.callspec.params["installed"] == "editable"
    home = ROOT if editable else installed.folder
    assert {Path(path).is_relative_to(home) for path in answers["homes"].values()} == {True}


def test_the_wheel_holds_the_packages_and_their_data(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(ROOT / folder).as_posix()
        for package, folder in PACKAGES.items()
        for path in (ROOT / folder / package).rglob("*")
        if path.suffix in (".py", *DATA) and path.is_file()
    }
    assert held == expected
    assert {suffix for suffix in DATA if any(name.endswith(suffix) for name in held)} == set(DATA)


def test_the_source_distribution_holds_the_tests(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"pyproject.toml", "README.md", "tests/install/test_distribution.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".git/", "dist/"))]
