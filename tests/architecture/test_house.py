"""Sizes and manners of the source: what a script can see of the house rules."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PRODUCT = ("engine", "tui", "themes")
FUNCTION_LINES, FILE_LINES, PARAMETERS = 40, 400, 5
"""Parameters include self."""

SIGNATURES_OF_OTHERS = {
    "memory_calculator": "the lesson's own signature",
    "__init__": "of a widget: Textual's keywords are passed on",
}
TOP_LEVEL = {"README.md", "Makefile", "pyproject.toml", *PRODUCT, "tests", "bench"}


@cache
def text(path: Path) -> str:
    """What a file holds, read once."""
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """Its syntax tree, built once."""
    return ast.parse(text(path))


def python_files(*folders: str) -> Iterator[Path]:
    """Every module of the folders."""
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def at(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def test_functions_are_short() -> None:
    long = [
        at(path, node)
        for path in python_files(*PRODUCT, "bench")
        for node in functions(path)
        if (node.end_lineno or node.lineno) - node.lineno + 1 > FUNCTION_LINES
    ]
    assert long == []


def test_files_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {lines}"
        for path in python_files(*PRODUCT, "tests", "bench")
        if (lines := text(path).count("\n")) > FILE_LINES
    ]
    assert long == []


def test_no_named_tuple_has_a_second_base() -> None:
    """Python 3.10 refuses one, and only 3.11 or newer may be at hand when the tests run."""
    mixed = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in python_files(*PRODUCT, "tests", "bench")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        and len(node.bases) > 1
        and any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)
    ]
    assert mixed == []


def test_parameters_are_few() -> None:
    many = [
        f"{at(path, node)} takes {count}"
        for path in python_files("engine", "tui")
        for node in functions(path)
        if node.name not in SIGNATURES_OF_OTHERS
        and (count := len(node.args.posonlyargs) + len(node.args.args)) > PARAMETERS
    ]
    assert many == []


def test_folders_are_no_packages() -> None:
    assert [folder for folder in PRODUCT if (ROOT / folder / "__init__.py").exists()] == []
    assert list((ROOT / "tests").rglob("__init__.py")) == []


# Written in halves, so that no search for these words ends here.
STRAY = (
    r"\b(TO" r"DO|FIX" r"ME|X" r"XX|NotImplemented" r"Error)\b",
    r"type: ig" r"nore(?!\[)",
    r"/(work|farm|root)/",
    r"pytest\.(skip|xfail|importorskip)|mark\.(skip|xfail)",
    r"unittest\.mock|import mock",
)


@pytest.mark.parametrize("pattern", STRAY)
def test_no_stray_words(pattern: str) -> None:
    here = Path(__file__)
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in python_files(*PRODUCT, "tests", "bench")
        if path != here
        for match in re.finditer(pattern, text(path))
    ]
    assert found == []


def test_broad_excepts_are_the_probes_alone() -> None:
    broad = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files(*PRODUCT)
        if "scaletui_probe" not in path.parts
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
    ]
    assert broad == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in python_files(*PRODUCT, "tests", "bench")
        if ast.get_docstring(tree(path)) is None
    ]
    assert silent == []


def test_tests_assert_something() -> None:
    idle = [
        at(path, node)
        for path in python_files("tests")
        for node in functions(path)
        if node.name.startswith("test_")
        and "assert" not in (body := ast.unparse(node))
        and "raises" not in body
    ]
    assert idle == []


def test_the_top_of_the_repository_is_known() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    tops = {line.split("/")[0] for line in listed.splitlines()}
    assert {top for top in tops if not top.startswith(".")} <= TOP_LEVEL
