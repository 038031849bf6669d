"""Editing a scenario: a step always lands on a valid scenario, and what depends on a field follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_strategies import scenarios

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.edit import FIELDS, edit, parse_value, step, valid_values, value_of, with_value
from scaletui_engine.edit.candidates import candidates
from scaletui_engine.errors import ScenarioError, UnknownNameError
from scaletui_engine.plan import Axes, Split, Strategy
from scaletui_engine.validate import problem

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


def _scenario(model: str = "llama3-8b", gpus: int = 8, **more: object) -> Scenario:
    return scenario_from(Choices(model, "h100", gpus, **more))  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None)
@given(scenarios(), st.sampled_from(FIELDS), st.sampled_from([-1, 1]))
def test_a_step_lands_on_a_valid_scenario(scenario: Scenario, field: str, direction: int) -> None:
    assert problem(step(scenario, field, direction)) is None


@settings(max_examples=150, deadline=None)
@given(scenarios(), st.sampled_from(FIELDS), st.data())
def test_the_field_that_was_set_stays(scenario: Scenario, field: str, data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(list(candidates(scenario, field))))
    assert value_of(with_value(scenario, field, value), field) == value


@settings(max_examples=40, deadline=None)
@given(scenarios(), st.sampled_from(FIELDS))
def test_steps_visit_the_valid_values_in_order(scenario: Scenario, field: str) -> None:
    values = valid_values(scenario, field)
    here = values.index(value_of(scenario, field))
    assert value_of(step(scenario, field, 1), field) == values[min(here + 1, len(values) - 1)]
    assert value_of(step(scenario, field, -1), field) == values[max(here - 1, 0)]


STEPS = [
    ("tp", "llama3-8b", 1, 2),
    ("gpus", "llama3-8b", 1, 12),
    ("seq", "llama3-8b", -1, 3072),
    ("micro_batch", "llama3-8b", 1, 2),
    ("global_batch", "llama3-8b", 1, 16),
    ("strategy", "llama3-8b", 1, Strategy.HSDP),
    ("ep", "mixtral-8x7b", 1, 2),
    ("ep", "llama3-8b", 1, 1),
    ("pp", "llama3-8b", 1, 2),
    ("model", "llama3-8b", 1, "llama3-70b"),
]


@pytest.mark.parametrize(("field", "model", "direction", "value"), STEPS)
def test_step(field: str, model: str, direction: int, value: object) -> None:
    assert value_of(step(_scenario(model), field, direction), field) == value


def test_data_parallelism_takes_what_is_left() -> None:
    assert with_value(_scenario(), "tp", 4).plan.axes == Axes(tp=4, dp_shard=2)
    assert with_value(_scenario(), "strategy", Strategy.DDP).plan.axes == Axes(dp_replicate=8)
    assert with_value(_scenario(gpus=16), "strategy", Strategy.HSDP).plan.axes == Axes(
        dp_replicate=2, dp_shard=8
    )


def test_setting_data_parallelism_buys_gpus() -> None:
    assert with_value(_scenario(), "dp_shard", 16).cluster.gpus == 16


def test_under_hsdp_shards_and_replicas_trade() -> None:
    scenario = _scenario(gpus=16, strategy=Strategy.HSDP)
    assert with_value(scenario, "dp_shard", 4).plan.axes == Axes(dp_replicate=4, dp_shard=4)
    assert with_value(scenario, "dp_replicate", 8).plan.axes == Axes(dp_replicate=8, dp_shard=2)


def test_the_global_batch_stays_whole() -> None:
    scenario = _scenario(global_batch=64)
    assert with_value(scenario, "tp", 4).plan.global_batch == 64
    assert with_value(scenario, "micro_batch", 3).plan.global_batch == 72


def test_a_smaller_model_shortens_the_sequence_and_drops_ep() -> None:
    scenario = _scenario("mixtral-8x7b", ep=8)
    changed = with_value(scenario, "model", "gpt2-124m")
    assert (changed.plan.seq, changed.plan.axes.ep) == (1024, 1)


def test_chunks_follow_the_schedule() -> None:
    scenario = _scenario(pp=4, global_batch=16)
    assert with_value(scenario, "schedule", "zb-v").plan.chunks == 2
    assert with_value(with_value(scenario, "schedule", "zb-v"), "schedule", "1f1b").plan.chunks == 1


def test_llama_405b_takes_16_stages_with_lighter_ends() -> None:
    scenario = _scenario("llama3-405b", 128, tp=8, global_batch=16)
    with pytest.raises(ScenarioError, match=r"126 layers / 16 stages = 7\.875"):
        edit(scenario, "pp", "16")
    assert edit(edit(scenario, "layer_split", "ends"), "pp", "16").plan.axes.pp == 16


TYPED = [
    ("seq", "8k", 8192),
    ("tp", " 4 ", 4),
    ("gpus", "16", 16),
    ("strategy", "FSDP", Strategy.FSDP),
    ("model", "GPT2", "gpt2-124m"),
    ("gpu", "b200", "b200"),
    ("reshard_after_forward", "off", False),
    ("sequence_parallel", "yes", True),
    ("layer_split", "7, 8 8,7", (7, 8, 8, 7)),
    ("layer_split", "Ends", Split.ENDS),
    ("schedule", "1F1B", "1F1B"),
    ("optimizer", "muon", "muon"),
    ("precision", "megatron", "megatron"),
]


@pytest.mark.parametrize(("field", "text", "value"), TYPED)
def test_typed(field: str, text: str, value: object) -> None:
    assert parse_value(field, text) == value


MISTYPED = [
    ("tp", "two", "'two' is not a whole number like 8192 or 8k"),
    ("tp", "-1", "'-1' is negative: wanted a whole number like 8192 or 8k"),
    ("strategy", "fdsp", "unknown strategy 'fdsp', did you mean 'fsdp'?"),
    ("reshard_after_forward", "maybe", "reshard_after_forward = 'maybe' is not on or off"),
    ("layer_split", "40,-8", "'40,-8' is not a list of layers like 7,8,8,7"),
    ("layer_split", "8;8", "'8;8' is not a list of layers like 7,8,8,7"),
    ("layer_split", "\uff17,8", "'\uff17,8' is not a list of layers like 7,8,8,7"),
    ("layer_split", "evenly", "unknown layer_split 'evenly', did you mean 'even'?"),
    ("tp", "3", "dp 8 x tp 3 = 24, but the cluster has 8 GPUs; nearest valid: tp 2"),
    ("seq", "16k", "seq 16384 > 8192, the longest sequence of llama3-8b; nearest valid: seq 8192"),
]


@pytest.mark.parametrize(("field", "text", "words"), MISTYPED)
def test_mistyped(field: str, text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        edit(_scenario(), field, text)
    assert str(refusal.value).startswith(words)


def test_unknown_field() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown field 'tpp', did you mean 'tp'\?"):
        value_of(_scenario(), "tpp")
    with pytest.raises(UnknownNameError):
        step(_scenario(), "axes", 1)
    with pytest.raises(UnknownNameError):
        with_value(_scenario(), "axes", 1)


@pytest.mark.parametrize("gpus", [0, -1])
def test_nonsense_is_left_for_validation(gpus: int) -> None:
    assert str(problem(with_value(_scenario(), "gpus", gpus))).startswith(f"gpus = {gpus} < 1")
