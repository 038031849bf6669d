"""The shipped scenarios: valid, exact in a file, and what they say they are."""

from __future__ import annotations

import pytest

from scaletui_engine.errors import UnknownNameError
from scaletui_engine.plan import Axes, Strategy
from scaletui_engine.scenario_file import dump, load
from scaletui_engine.scenarios import load_scenario, scenario_ids
from scaletui_engine.stages import rank_stages
from scaletui_engine.validate import problem

SHIPPED = [
    ("gpt2-124m", 1, Axes(dp_replicate=1)),
    ("llama2-7b-8", 8, Axes(dp_shard=8)),
    ("llama3-8b-8", 8, Axes(dp_shard=8)),
    ("llama3-70b-8", 8, Axes(dp_shard=8)),
    ("llama3-70b-16", 16, Axes(dp_shard=16)),
    ("llama3-405b-16384", 16_384, Axes(tp=8, pp=16, dp_shard=128)),
    ("deepseek-v3-2048", 2_048, Axes(pp=16, ep=64, dp_shard=128)),
]


@pytest.mark.parametrize(("name", "gpus", "axes"), SHIPPED, ids=[row[0] for row in SHIPPED])
def test_shipped(name: str, gpus: int, axes: Axes) -> None:
    scenario = load_scenario(name)
    assert problem(scenario) is None
    assert (scenario.cluster.gpus, scenario.plan.axes) == (gpus, axes)
    assert scenario.name
    assert load(dump(scenario)) == scenario


def test_all_are_listed() -> None:
    assert sorted(row[0] for row in SHIPPED) == list(scenario_ids())


def test_llama_405b_has_lighter_ends_and_16_million_tokens() -> None:
    scenario = load_scenario("llama3-405b-16384")
    counts = [sum(len(stage.layers) for stage in held) for held in rank_stages(126, scenario.plan)]
    assert counts == [7, *[8] * 14, 7]
    assert scenario.plan.global_batch * scenario.plan.seq == 1 << 24
    assert scenario.plan.accumulation == 16


def test_deepseek_v3_has_no_tensor_parallelism_and_shards_its_optimizer() -> None:
    plan = load_scenario("deepseek-v3-2048").plan
    assert (plan.axes.tp, plan.axes.ep, plan.strategy) == (1, 64, Strategy.ZERO1)
    held = rank_stages(61, plan)
    assert [stage.index for stage in held[0]] == [0, 15]


def test_unknown_name() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown scenario 'llama3-8b-9', did you mean 'llama3-8b-8'\?"
    ):
        load_scenario("llama3-8b-9")
