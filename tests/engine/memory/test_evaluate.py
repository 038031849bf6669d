"""The budget of whole scenarios: what must hold for every strategy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.plan import Recompute, Split, Strategy

EIGHT_B = Choices("llama3.1-8b", "h100-sxm", 16)


@pytest.mark.parametrize("strategy", list(Strategy))
def test_parts_sum_to_the_peak_and_none_is_negative(strategy: Strategy) -> None:
    budget = evaluate(scenario_from(replace(EIGHT_B, strategy=strategy)))
    for stage in budget.stages:
        assert stage.peak_bytes == sum(value for _, value in stage.parts.items())
        assert all(value >= 0 for _, value in stage.parts.items())
        assert stage.peak_bytes <= stage.reserved.low <= stage.reserved.high


@pytest.mark.parametrize("strategy", list(Strategy))
def test_full_recompute_never_needs_more(strategy: Strategy) -> None:
    kept = scenario_from(replace(EIGHT_B, strategy=strategy))
    recomputed = scenario_from(replace(EIGHT_B, strategy=strategy, recompute=Recompute.FULL))
    assert evaluate(recomputed).peak.peak_bytes <= evaluate(kept).peak.peak_bytes


def test_every_stage_of_a_pipeline_has_its_own_number() -> None:
    choices = Choices(
        "llama3.1-405b", "h100-sxm", 1024, tp=8, pp=16, layer_split=Split.ENDS, global_batch=128
    )
    budget = evaluate(scenario_from(choices))
    assert len(budget.stages) == 16
    assert len({stage.peak_bytes for stage in budget.stages}) == 16
