"""The formula beside a part gives the part's bytes, up to padding and replicated tensors."""

from __future__ import annotations

import pytest

from scaletui.state.answer import answer
from scaletui.state.budget import BudgetState, looked_at, origin
from scaletui.view.budget_origin import STATES, of_what, per_parameter, share_of
from scaletui.view.pen import Pen
from scaletui_engine.edit import edit
from scaletui_engine.scenarios import load_scenario, scenario_ids


def product(part: str, state: BudgetState) -> int:
    """Parameters x bytes / ranks."""
    numbers = origin(state)
    assert numbers is not None
    return share_of(part, numbers, state) * per_parameter(part, numbers)


@pytest.mark.parametrize("part", [part for part in STATES if part != "gradients"])
@pytest.mark.parametrize("name", scenario_ids())
def test_states_are_what_their_formula_says(name: str, part: str) -> None:
    """Within 2 percent: padded shards, Adam's step counts, tensors that tp copies."""
    state = BudgetState(answer(load_scenario(name)))
    stage = looked_at(state)
    assert stage is not None
    held = getattr(stage.parts, part)
    if held:
        assert product(part, state) == pytest.approx(held, rel=0.02)


@pytest.mark.parametrize("name", scenario_ids())
def test_gradients_at_the_peak_are_at_most_all_of_them(name: str) -> None:
    """Backward, those of the layers that have not run yet do not exist."""
    state = BudgetState(answer(load_scenario(name)))
    stage = looked_at(state)
    assert stage is not None
    assert stage.parts.gradients <= product("gradients", state) * 1.02
    if 0 < stage.parts.gradients < product("gradients", state) * 0.9:
        assert of_what("gradients", state, Pen()).startswith("of ")


@pytest.mark.parametrize("strategy", ["ddp", "zero1", "zero2", "zero3", "fsdp1", "fsdp"])
def test_every_strategy_shards_what_it_says(strategy: str) -> None:
    state = BudgetState(answer(edit(load_scenario("llama3-8b-8"), "strategy", strategy)))
    stage = looked_at(state)
    assert stage is not None
    for part in ("weights", "optimizer"):
        assert product(part, state) == pytest.approx(getattr(stage.parts, part), rel=0.02)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("weights", "8.03 B × 4 B / 8"),
        ("optimizer", "8.03 B × 8 B / 8"),
        ("activations", "32 layers"),
        ("master_weights", ""),
    ],
)
def test_the_short_formula(state: BudgetState, part: str, text: str) -> None:
    assert of_what(part, state, Pen()) == text
