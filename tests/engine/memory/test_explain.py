"""Every part can be taken apart down to tensors, and every term has a formula with its source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.budget import PARTS
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.explain import explain
from scaletui_engine.memory.formulas import formula_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases import moments
from scaletui_engine.plan import Recompute, Split, Strategy
from scaletui_engine.runtime import LossKernel

DENSE = Choices("llama3.1-8b", "h100-sxm", 8)
EXPERTS = Choices("deepseek-v2-lite-16b", "h100-sxm", 32, pp=4, ep=8, layer_split=Split.ENDS, global_batch=64)


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("choices", [DENSE, EXPERTS], ids=["dense", "experts"])
@pytest.mark.parametrize("recompute", list(Recompute))
def test_items_sum_to_the_parts(strategy: Strategy, choices: Choices, recompute: Recompute) -> None:
    scenario = scenario_from(replace(choices, strategy=strategy, recompute=recompute))
    for stage in evaluate(scenario).stages:
        found = explain(scenario, stage.stage)
        assert found.phase == stage.phase
        for part in PARTS:
            assert sum(item.bytes for item in found.of(part)) == getattr(stage.parts, part)


SUMS = ("weights.states", "optimizer.states", "master_weights.states", "activations.layers", "unsharded.root")


@pytest.mark.parametrize("strategy", list(Strategy))
def test_tensors_sum_to_their_item(strategy: Strategy) -> None:
    found = explain(scenario_from(replace(DENSE, strategy=strategy)))
    for item in found.items:
        if item.name in SUMS:
            assert sum(tensor.bytes for tensor in item.tensors) == item.bytes
            assert [tensor.bytes for tensor in item.tensors] == sorted(
                (tensor.bytes for tensor in item.tensors), reverse=True
            )


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("choices", [DENSE, EXPERTS], ids=["dense", "experts"])
def test_every_term_of_every_moment_has_a_formula_and_a_source(strategy: Strategy, choices: Choices) -> None:
    scenario = scenario_from(replace(choices, strategy=strategy, global_batch=256))
    for contents in contents_of(load_of(scenario.model.arch, scenario.plan)):
        for moment in moments(contents):
            for _, name, _ in moment.terms:
                assert formula_of(name).text, name
                assert formula_of(name).source, name


@pytest.mark.parametrize("kernel", [kernel for kernel in LossKernel if kernel is not LossKernel.AUTO])
def test_every_loss_kernel_has_a_formula(kernel: LossKernel) -> None:
    assert formula_of(f"loss.{kernel}").text
