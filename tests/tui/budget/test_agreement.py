"""The same scenario says the same wherever it is seen: edited, exported, read back, and by options alone."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from scaletui import cli
from scaletui.commands.scenario_options import FIELDS as OPTIONS
from scaletui.exports import export_text
from scaletui.state.answer import answer
from scaletui.state.editing import Editing, set_field, value_text
from scaletui.text.glyphs import glyphs_for
from scaletui.text.numbers import numbers_for
from scaletui.view.pen import Pen
from scaletui_engine.edit import FIELDS, valid_values, with_value
from scaletui_engine.runtime import DEFAULT_RUNTIME
from scaletui_engine.scenario_file import load
from scaletui_engine.scenarios import load_scenario, scenario_ids

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scaletui_engine.scenario import Scenario

PEN = Pen(glyphs_for(ascii_only=False, hues=True), numbers_for("en"))
CATALOGUES = ("model", "gpu")
"""Fields with so many values that finding the valid ones takes long."""


def walked(seed: int, names: Sequence[str]) -> Scenario:
    """A shipped scenario after a few edits, typed as the screen takes them; none may be refused."""
    chance = random.Random(seed)
    editing = Editing(load_scenario(chance.choice(names)))
    for _ in range(chance.randrange(1, 7)):
        field = chance.choice([name for name in FIELDS if name not in CATALOGUES])
        value = chance.choice(valid_values(editing.scenario, field) or (None,))
        if value is not None:
            text = value_text(with_value(editing.scenario, field, value), field)
            editing = set_field(editing, field, text)
            assert editing.refusal == ""
    return editing.scenario


def is_of_options(scenario: Scenario) -> bool:
    """Whether options can say all of it but the switches that have none."""
    plan, cluster = scenario.plan, scenario.cluster
    special = (plan.frozen, plan.lora, cluster.nvlink_domain, cluster.host_memory_bytes)
    return plan.runtime == DEFAULT_RUNTIME and not any(special)


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert cli.main(["memory", *argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("seed", range(40))
def test_a_walk_through_the_fields(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = walked(seed, scenario_ids())
    asked = answer(scenario)
    shown = json.loads(export_text("x.json", asked, PEN, str))
    path = tmp_path / "plan.toml"
    path.write_text(export_text("x.toml", asked, PEN, str), encoding="utf-8")
    assert load(path.read_text(encoding="utf-8")) == scenario
    printed = said(capsys, "--scenario", str(path), "--compare", str(path))
    compared = printed.pop("compare")
    assert printed == shown
    assert compared["fields"] == {}
    assert compared["other"] == {key: value for key, value in shown.items() if key != "host"}
    assert set(compared["difference"].pop("parts").values()) | set(compared["difference"].values()) == {0}


@pytest.mark.parametrize("seed", range(40))
def test_options_alone_say_what_the_edits_made(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = walked(seed, [name for name in scenario_ids() if is_of_options(load_scenario(name))])
    for field in ("reshard_after_forward", "sequence_parallel"):
        scenario = with_value(scenario, field, True)
    words = [f"--{field.replace('_', '-')}={value_text(scenario, field)}" for field in OPTIONS]
    assert said(capsys, *words) == json.loads(export_text("x.json", answer(scenario), PEN, str))
