"""What a plain command loads: neither the screen nor arrays, and nothing of torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scaletui.commands import MODULES

ROOT = Path(__file__).parents[2]
HEAVY = ("textual", "rich", "numpy", "torch", "asyncio")
LISTING = """
import json, sys
from scaletui.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as left:
    code = left.code
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""
MEMORY = ("memory", "--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "8")


def loaded(*argv: str) -> tuple[int, set[str]]:
    """(exit code, top-level modules) of the command in an interpreter of its own."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("engine", "tui", "themes"))
    done = subprocess.run(
        [sys.executable, "-c", LISTING, *argv],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths, "LC_ALL": "C"},
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, set(modules)


@pytest.mark.parametrize(
    "argv",
    [
        ("--version",),
        ("--help",),
        ("--lang", "pt-BR", "--help"),
        *((name, "--help") for name in MODULES),
        MEMORY,
        (*MEMORY, "--json"),
    ],
    ids=" ".join,
)
def test_loads_nothing_heavy(argv: tuple[str, ...]) -> None:
    code, modules = loaded(*argv)
    assert code == 0
    assert modules.isdisjoint(HEAVY)


def test_the_listing_sees_what_is_heavy() -> None:
    assert "numpy" in loaded("simulate", "dp")[1]


ENGINE_ALONE = """
import pkgutil, sys, importlib
import scaletui_engine, scaletui_probe
for package in (scaletui_engine, scaletui_probe):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if ".autostart" not in module.name:
            importlib.import_module(module.name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_the_whole_engine_loads_without_screen_or_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENGINE_ALONE],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "engine")},
    )
    assert set(done.stdout.split()).isdisjoint({"textual", "rich", "asyncio", "torch", "scaletui"})
