"""What the README promises is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scaletui.commands import MODULES
from scaletui_engine.catalog import gpu_ids, model_ids
from scaletui_themes import theme_ids

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^):]+)\)", README))))
def test_linked_files_exist(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`?make ([a-z]+)", README)) - {"a"}))
def test_make_targets_exist(target: str) -> None:
    assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)


def test_every_command_is_listed() -> None:
    table = README[README.index("| command |") :].split("\n\n")[0]
    assert [name for name in MODULES if not re.search(rf"\b{name}\b", table)] == []


def test_counts_and_themes_are_those_of_the_data() -> None:
    assert f"a model of the catalogue ({len(model_ids())} of them)" in README
    assert f"accelerators ({len(gpu_ids())})" in README
    assert f"`--theme {'|'.join(theme_ids())}`" in README
