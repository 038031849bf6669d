"""Megatron's recompute modules: each leaves out its own tensors, and a MoE layer all that is in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.plan import Axes, Plan, Recompute, Strategy
from scaletui_engine.runtime import Runtime

PLAN = Plan(Axes(ep=8, dp_shard=8), Strategy.ZERO1, global_batch=8)


def _kept(*modules: str) -> dict[str, str]:
    """Names and modules of what an expert layer of DeepSeek-V2 keeps, those modules recomputed."""
    plan = PLAN
    if modules:
        plan = replace(PLAN, recompute=Recompute.SELECTIVE, runtime=Runtime(recompute_modules=modules))
    (rank,) = contents_of(load_of(load_model("deepseek-v2-236b").arch, plan))
    kind, _ = rank.layers[-1]
    return {saved.name: saved.module for saved in kind.activations.kept}


@pytest.mark.parametrize(
    ("module", "within"),
    [
        ("moe", {"moe", "moe_act", "shared_experts"}),
        ("moe_act", {"moe_act"}),
        ("shared_experts", {"shared_experts"}),
        ("layernorm", {"layernorm"}),
    ],
)
def test_a_module_leaves_out_what_is_in_it(module: str, within: set[str]) -> None:
    everything = _kept()
    assert within <= set(everything.values())
    gone = {name for name, own in everything.items() if own in within}
    assert _kept(module).keys() == everything.keys() - gone
