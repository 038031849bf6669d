"""The largest and smallest values that fit, and the changes that make a plan fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.edit.set import with_value
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.fixes import TOO_LITTLE, fixes
from scaletui_engine.memory.solve import fewest_gpus, largest_micro_batch, longest_seq
from scaletui_engine.plan import Recompute, Split, Strategy
from scaletui_engine.validate import problem

SMALL = Choices("llama3.2-1b", "h100-sxm", 8)
FULL = Choices("llama3.1-8b", "h100-sxm", 8, recompute=Recompute.FULL)
TIGHT = Choices("llama3.1-8b", "h100-sxm", 8, seq=8192)
PIPELINE = Choices(
    "llama3.1-70b", "h100-sxm", 64, tp=8, pp=4, layer_split=Split.ENDS, recompute=Recompute.FULL
)


@pytest.mark.parametrize("choices", [SMALL, FULL, PIPELINE], ids=["1b", "8b-full", "70b-pp4"])
def test_one_sequence_more_does_not_fit(choices: Choices) -> None:
    scenario = scenario_from(choices)
    found = largest_micro_batch(scenario)
    assert found.value is not None
    assert found.budget is not None
    assert found.budget.fits
    assert not evaluate(with_value(scenario, "micro_batch", found.value + 1)).fits


def test_the_longest_sequence_ends_at_the_model_or_at_the_memory() -> None:
    scenario = scenario_from(FULL)
    found = longest_seq(scenario)
    assert found.value is not None
    assert (
        found.bound == scenario.model.max_seq
        or not evaluate(with_value(scenario, "seq", found.value + 1)).fits
    )


def test_one_gpu_less_does_not_fit() -> None:
    scenario = scenario_from(TIGHT)
    found = fewest_gpus(scenario)
    assert found.value is not None
    assert found.scenario is not None
    assert problem(found.scenario) is None
    assert evaluate(found.scenario).fits
    assert not evaluate(with_value(scenario, "gpus", found.value - 1)).fits


def test_more_replicas_never_make_ddp_fit() -> None:
    assert fewest_gpus(scenario_from(replace(TIGHT, strategy=Strategy.DDP))).value is None


def test_what_cannot_fit_has_no_answer() -> None:
    found = largest_micro_batch(scenario_from(Choices("llama3.1-405b", "h100-sxm", 8)))
    assert (found.value, found.scenario, found.budget) == (None, None, None)


def test_fixes_are_valid_save_what_they_say_and_fit_first() -> None:
    scenario = scenario_from(TIGHT)
    before, found = evaluate(scenario).peak.needed_bytes, fixes(scenario)
    assert len(found) > 8
    for fix in found:
        assert problem(fix.scenario) is None
        assert fix.saved_bytes == before - evaluate(fix.scenario).peak.needed_bytes > 0
    fitting = [fix.fits for fix in found]
    assert fitting == sorted(fitting, reverse=True)
    cheap = [fix.cost.rank for fix in found if fix.fits]
    assert cheap == sorted(cheap)


def test_full_recompute_costs_a_third_of_the_compute() -> None:
    fix = next(fix for fix in fixes(scenario_from(TIGHT)) if fix.id == "fix.recompute_full")
    assert (fix.field, fix.value, fix.cost.percent) == ("recompute", "full", 33)
    assert fix.saved_bytes > 20 << 30


def test_a_change_that_saves_next_to_nothing_is_left_out() -> None:
    """Over 65,536 ranks the optimizer's state is a thousandth of the budget no more; over 8 it is a fifth."""
    few, many = (scenario_from(Choices("llama3.1-8b", "h100-sxm", gpus)) for gpus in (8, 65536))
    needed = evaluate(many).peak.needed_bytes
    assert all(fix.saved_bytes > needed // TOO_LITTLE for fix in fixes(many))
    assert "fix.adam8bit" in {fix.id for fix in fixes(few)}
    assert "fix.adam8bit" not in {fix.id for fix in fixes(many)}
