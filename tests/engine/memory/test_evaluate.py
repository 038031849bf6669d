"""The budget of whole scenarios: what must hold for every strategy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.plan import Axes, Plan, Recompute, Split, Strategy
from scaletui_engine.runtime import CpExchange, Framework, Runtime
from scaletui_engine.units import MIB

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


def test_gathered_keys_are_whole_beside_their_gradients() -> None:
    """cp times the own keys and values, twice: for heads of their own more than the gradients of the MLP."""
    plan = Plan(Axes(cp=8, dp_shard=1), Strategy.FSDP, seq=65536)
    ring, gathered = (
        contents_of(
            load_of(load_model("llama2-7b").arch, replace(plan, runtime=Runtime(cp_exchange=exchange)))
        )
        for exchange in (CpExchange.RING, CpExchange.ALL_GATHER)
    )
    more = gathered[0].layers[0][0].activations
    token = 4096 * 2
    second = sum(saved.bytes for saved in more.everything if saved.name.startswith("mlp."))
    assert more.backward_bytes == 8192 * token * (2 + 2 + 2 * 8 * 2) - second
    assert more.kept == ring[0].layers[0][0].activations.kept
    assert more.backward_bytes > ring[0].layers[0][0].activations.backward_bytes


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (EIGHT_B, ("framework.torch",)),
        (Choices("mixtral-8x7b", "h100-sxm", 8), ("framework.torch", "routing.even")),
        (replace(EIGHT_B, pp=4, schedule="dualpipe"), ("framework.torch", "copies.own_states")),
        (replace(EIGHT_B, pp=4, schedule="dualpipev", chunks=2), ("framework.torch",)),
    ],
)
def test_what_no_field_says_is_named(choices: Choices, said: tuple[str, ...]) -> None:
    assert evaluate(scenario_from(replace(choices, global_batch=64))).assumptions == said


@pytest.mark.parametrize(
    ("model", "framework", "count"),
    [
        ("llama3.1-8b", Framework.TORCH, 2),
        ("llama3.1-8b", Framework.MEGATRON, 3),
        ("mixtral-8x7b", Framework.MEGATRON, 7),
        ("llama3.1-8b", Framework.MEGATRON_LEGACY, 2),
    ],
)
def test_workspaces_stand_beside_the_parts(model: str, framework: Framework, count: int) -> None:
    """32 MiB a thread that multiplies, Transformer Engine's own, four of its grouped products."""
    scenario = scenario_from(Choices(model, "h100-sxm", 8))
    runtime = replace(scenario.plan.runtime, framework=framework)
    (stage,) = evaluate(scenario.with_plan(replace(scenario.plan, runtime=runtime))).stages
    assert stage.workspaces == count * 32 * MIB
    assert stage.peak_bytes == stage.parts.total
    assert stage.reserved.high >= stage.peak_bytes + stage.workspaces
