"""The shipped scenarios against what is known of the runs they describe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.memory import evaluate
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.precisions import held_precision
from scaletui_engine.runtime import DEFAULT_RUNTIME
from scaletui_engine.scenarios import load_scenario

FITS = {
    "deepseek-v3-2048": True, "gpt2-124m": True, "llama2-7b-8": True, "llama3-8b-8": True,
    "llama3-70b-16": False, "llama3-70b-8": False,
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_what_fits(name: str) -> None:
    assert evaluate(load_scenario(name)).fits is FITS[name]


def test_llama_3_405b_fits_by_its_likely_figures() -> None:
    """It ran; the high ends of reserve and NCCL together say more than 79.1 GiB for the second rank."""
    budget = evaluate(load_scenario("llama3-405b-16384"))
    likely = budget.peak.reserved.likely + budget.peak.outside.likely
    assert likely < budget.capacity_bytes < budget.peak.needed_bytes


def test_deepseek_v3_holds_one_chunk_more_than_ranks() -> None:
    """DualPipe: pp + 1 chunks of activations, two stages a rank (arXiv:2412.19437, table 2)."""
    scenario = load_scenario("deepseek-v3-2048")
    ranks = contents_of(load_of(scenario.model.arch, scenario.plan))
    assert {rank.in_flight * 2 for rank in ranks} == {scenario.plan.axes.pp + 1}
    assert {rank.stages for rank in ranks} == {2}


def test_deepseek_v3_would_not_fit_without_what_its_report_describes() -> None:
    """Section 3.2.3 and 3.3.3: recompute and activations in few bits are why it trains without TP."""
    scenario = load_scenario("deepseek-v3-2048")
    runtime = scenario.plan.runtime
    wide = replace(runtime, float8=False, float8_saved=(), attention_output_bits=None)
    whole = replace(runtime, recompute_modules=DEFAULT_RUNTIME.recompute_modules)
    for other in (wide, whole):
        assert not evaluate(scenario.with_plan(replace(scenario.plan, runtime=other))).fits


def test_gradients_that_are_summed_in_place_have_no_16_bit_copy() -> None:
    plan = load_scenario("deepseek-v3-2048").plan
    apart = replace(plan, runtime=replace(plan.runtime, gradient_fusion=False))
    assert (held_precision(plan).gradients, held_precision(apart).gradients) == (4, 6)
