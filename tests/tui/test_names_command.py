"""`scaletui names`: every name that is refused can be looked up, and every one that is listed is taken."""

from __future__ import annotations

import json
import re

import pytest

from scaletui import cli
from scaletui.commands.names import KINDS, names_of
from scaletui.text.language import set_language
from scaletui_engine.errors import FEW_NAMES

TAKES = {
    "model": ("memory", "--gpu", "h100", "--gpus", "8", "--model"),
    "gpu": ("memory", "--model", "llama3-8b", "--gpus", "8", "--gpu"),
    "scenario": ("memory", "--scenario"),
    "schedule": ("schedule", "--stages", "4", "--microbatches", "8"),
    "optimizer": ("memory", "--model", "llama3-8b", "--gpu", "h100", "--gpus", "8", "--optimizer"),
    "precision": ("memory", "--model", "llama3-8b", "--gpu", "h100", "--gpus", "8", "--precision"),
    "strategy": ("memory", "--model", "llama3-8b", "--gpu", "h100", "--gpus", "8", "--strategy"),
    "recompute": ("memory", "--model", "llama3-8b", "--gpu", "h100", "--gpus", "8", "--recompute"),
    "offload": ("memory", "--model", "llama3-8b", "--gpu", "h100", "--gpus", "8", "--offload"),
    "order": ("ranks", "--model", "llama3-8b", "--gpu", "h100", "--gpus", "8", "--order"),
    "simulation": ("simulate",),
    "collective": ("collective",),
    "theme": ("--theme",),
}
"""The words after which a name of each kind stands."""


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    set_language("en")


def test_every_kind_has_its_place() -> None:
    assert set(TAKES) == set(KINDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "theme"])
def test_an_unknown_name_is_refused_with_its_list(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing comes near to it: all names are on the line where they are few, else the command for them."""
    assert cli.main([*TAKES[kind], "qqqq"]) == cli.UNUSABLE_INPUT
    line, names = capsys.readouterr().err, names_of(kind)
    listed = (
        f"not one of {', '.join(names)}"
        if len(names) <= FEW_NAMES
        else f"scaletui names {kind} lists them all"
    )
    assert re.search(rf"unknown {kind} 'qqqq'", line, re.IGNORECASE)
    assert listed in line


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "theme"])
def test_a_name_misspelt_is_refused_with_the_right_one(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = names_of(kind)[-1]
    assert cli.main([*TAKES[kind], f"{name[:-1]}#"]) == cli.UNUSABLE_INPUT
    line = capsys.readouterr().err
    assert re.search(r"did you mean '[^']+'\? scaletui names", line)
    assert line.count("\n") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_one_kind(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["names", kind.upper()]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == list(names_of(kind)) == list(dict.fromkeys(printed))
    assert printed


@pytest.mark.parametrize("name", names_of("scenario"))
def test_a_listed_scenario_is_taken(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*TAKES["scenario"], name]) == 0
    assert capsys.readouterr().err == ""


def test_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["names"]) == 0
    lines = [tuple(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert cli.main(["names", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert lines == [(kind, name) for kind, names in found.items() for name in names]
    assert list(found) == list(KINDS)


def test_a_kind_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["names", "modle"]) == cli.UNUSABLE_INPUT
    said = "unknown kind 'modle', did you mean 'model'? scaletui names --help lists them all"
    assert capsys.readouterr().err == f"scaletui: {said}\n"
