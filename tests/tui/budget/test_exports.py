"""What is exported says what the command line says, and is what its ending promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from scaletui import cli
from scaletui.exports import export_text, unindented
from scaletui.state.answer import answer
from scaletui.text.glyphs import glyphs_for
from scaletui.text.numbers import numbers_for
from scaletui.view.pen import Pen
from scaletui_engine.edit import edit
from scaletui_engine.scenario_file import dump, load
from scaletui_engine.scenarios import load_scenario, scenario_ids

if TYPE_CHECKING:
    from pathlib import Path

PEN = Pen(glyphs_for(ascii_only=False, hues=True), numbers_for("en"))
EDITS: tuple[dict[str, str], ...] = ({}, {"offload": "optimizer"}, {"seq": "512", "recompute": "full"})


@pytest.mark.parametrize("name", scenario_ids())
@pytest.mark.parametrize("edits", EDITS, ids=str)
def test_json_agrees_with_the_command_line(
    name: str, edits: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = load_scenario(name)
    for field, text in edits.items():
        scenario = edit(scenario, field, text)
    path = tmp_path / "plan.toml"
    path.write_text(export_text("plan.toml", answer(scenario), PEN, str), encoding="utf-8")
    assert cli.main(["memory", "--scenario", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert json.loads(export_text("plan.json", answer(scenario), PEN, str)) == printed


@pytest.mark.parametrize("name", scenario_ids())
def test_a_scenario_file_reads_back(name: str) -> None:
    scenario = load_scenario(name)
    assert load(dump(scenario)) == scenario
    assert export_text("x.toml", answer(scenario), PEN, str) == dump(scenario)


@pytest.mark.parametrize("name", scenario_ids())
def test_tables_have_as_many_cells_in_every_row(name: str) -> None:
    text = export_text("x.md", answer(load_scenario(name)), PEN, str)
    for table in (block.splitlines() for block in text.split("\n\n") if block.startswith("|")):
        assert len({row.count("|") for row in table}) == 1
        assert set(table[1]) == set("|- ")


@pytest.mark.parametrize(
    ("drawn", "placed"),
    [
        ('x="0" y="1" textLength="36.6" r="a">&#160;ab<', 'x="12.2" y="1" textLength="24.4" r="a">ab<'),
        (
            'x="12.2" y="1" textLength="61">&#160;&#160;a&#160;b<',
            'x="36.6" y="1" textLength="36.6">a&#160;b<',
        ),
        ('x="0" y="1" textLength="24.4">ab<', 'x="0" y="1" textLength="24.4">ab<'),
        ('x="0" y="1" textLength="36.6">&#160;\u6d4b<', 'x="12.2" y="1" textLength="24.4">\u6d4b<'),
        ('x="0" y="1" textLength="24.4">&#160;&lt;<', 'x="12.2" y="1" textLength="12.2">&lt;<'),
    ],
)
def test_texts_of_a_picture_begin_with_a_letter(drawn: str, placed: str) -> None:
    assert unindented(f"<text {drawn}/text>") == f"<text {placed}/text>"
