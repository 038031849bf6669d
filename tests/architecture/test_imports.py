"""Who may import whom, read from the syntax trees so that it holds on every interpreter."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ENGINE, PROBE = "engine/scaletui_engine", "engine/scaletui_probe"
TUI, THEMES = "tui/scaletui", "themes/scaletui_themes"


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement."""

    module: str
    names: tuple[str, ...]
    where: str
    at_start: bool
    """Runs when its module is imported: not inside a function, not for the type checker alone."""


def imports_of(text: str, where: str) -> Iterator[Import]:
    """Every import of a module's text."""
    tree = ast.parse(text)
    deferred = {id(node) for outer in ast.walk(tree) if _defers(outer) for node in ast.walk(outer)}
    for node in ast.walk(tree):
        place, at_start = f"{where}:{getattr(node, 'lineno', 0)}", id(node) not in deferred
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, (), place, at_start)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield Import(node.module, tuple(alias.name for alias in node.names), place, at_start)


def _defers(node: ast.AST) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_in(folder: str, *, but: tuple[str, ...] = ()) -> Iterator[Import]:
    """Every import of the modules of a folder, but for those whose path begins like one of `but`."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        where = path.relative_to(ROOT).as_posix()
        if not where.startswith(but):
            yield from _imports_of_file(path, where)


@cache
def _imports_of_file(path: Path, where: str) -> tuple[Import, ...]:
    return tuple(imports_of(path.read_text(encoding="utf-8"), where))


def breaches(found: Iterator[Import], forbidden: tuple[str, ...], *, at_start: bool = False) -> list[str]:
    """Where one of the forbidden packages is imported."""
    return [
        f"{one.where} imports {one.module}"
        for one in found
        if any(one.module == name or one.module.startswith(name + ".") for name in forbidden)
        and (one.at_start or not at_start)
    ]


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        (ENGINE, ("textual", "rich", "asyncio", "scaletui", "scaletui_themes")),
        (PROBE, ("textual", "rich", "asyncio", "scaletui", "scaletui_themes", "scaletui_engine", "numpy")),
        (THEMES, ("textual", "rich", "scaletui", "scaletui_engine", "scaletui_probe")),
        (f"{TUI}/state", ("textual", "rich")),
        (f"{TUI}/view", ("textual", "rich")),
        (f"{TUI}/text", ("textual", "rich")),
        ("tests/engine", ("scaletui", "textual")),
        ("tests/probe", ("textual", "rich")),
    ],
)
def test_never_imports(folder: str, forbidden: tuple[str, ...]) -> None:
    assert breaches(imports_in(folder), forbidden) == []


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        (ENGINE, ("torch",)),
        (PROBE, ("torch",)),
        (f"{TUI}/commands", ("textual", "rich", "numpy", "torch", "scaletui.app", "scaletui.screens")),
        (f"{TUI}/text", ("numpy", "torch")),
    ],
)
def test_imports_only_when_called(folder: str, forbidden: tuple[str, ...]) -> None:
    assert breaches(imports_in(folder), forbidden, at_start=True) == []


def test_the_probe_needs_the_standard_library_alone() -> None:
    allowed = sys.stdlib_module_names | {"scaletui_probe", "torch", "__future__"}
    strangers = [
        f"{one.where} imports {one.module}"
        for one in imports_in(PROBE)
        if one.module.partition(".")[0] not in allowed
    ]
    assert strangers == []


def test_panes_do_not_know_each_other() -> None:
    panes = {path.stem for path in (ROOT / TUI / "panes").glob("*.py")} - {"__init__", *SHARED_BY_PANES}
    meetings = [
        f"{one.where} imports {one.module}"
        for one in imports_in(f"{TUI}/panes")
        if one.module.startswith("scaletui.panes.") and one.module.rpartition(".")[2] in panes
    ]
    assert meetings == []


SHARED_BY_PANES = ("rows", "frame")
"""What every pane is made of; no panes themselves."""

CANVAS = (f"{TUI}/canvas.py", f"{TUI}/compat/")


def test_only_the_canvas_knows_strips_and_segments() -> None:
    libraries = [
        one for one in imports_in(TUI, but=CANVAS) if one.module.partition(".")[0] in ("textual", "rich")
    ]
    low = [one for one in libraries if {"Strip", "Segment", "Region"} & set(one.names)]
    private = [
        one for one in libraries if any(name.startswith("_") for name in (*one.module.split("."), *one.names))
    ]
    assert [one.where for one in (*low, *private)] == []


def test_imports_are_absolute() -> None:
    relative = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in (ENGINE, PROBE, TUI, THEMES)
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import textual.app", [("textual.app", True)]),
        ("from textual import app", [("textual", True)]),
        ("def f():\n    import torch", [("torch", False)]),
        ("if TYPE_CHECKING:\n    import torch", [("torch", False)]),
        ("class A:\n    import torch", [("torch", True)]),
        ("try:\n    import torch\nexcept ImportError:\n    pass", [("torch", True)]),
    ],
)
def test_planted_imports_are_seen(text: str, found: list[tuple[str, bool]]) -> None:
    assert [(one.module, one.at_start) for one in imports_of(text, "planted.py")] == found


if importlib.util.find_spec("importlinter"):

    def test_import_linter_keeps_every_contract() -> None:
        command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert "0 broken" in done.stdout
