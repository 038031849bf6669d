"""torch's selective checkpointing by operation under torch.compile, and FSDP inside a compiled graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.reserve import WORKSPACE_LOW
from scaletui_engine.plan import Recompute, Strategy
from scaletui_engine.runtime import LossKernel, Runtime

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario


def _scenario(model: str, **changes: object) -> Scenario:
    scenario = scenario_from(Choices(model, "h200-sxm", 8, micro_batch=4, global_batch=32, seq=4096))
    return scenario.with_plan(replace(scenario.plan, recompute=Recompute.SELECTIVE, **changes))


def _kept(plan: Plan, model: str) -> int:
    return contents_of(load_of(load_model(model).arch, plan))[0].kept


@pytest.mark.parametrize("switch", ["compile", "traced"])
def test_what_is_only_added_to_the_stream_is_dropped(switch: str) -> None:
    """torchtitan's run of Qwen3 14B: 113.7 GiB eager, 108.2 compiled."""
    eager, compiled = (
        _kept(_scenario("qwen3-14b", runtime=runtime).plan, "qwen3-14b")
        for runtime in (Runtime(), Runtime(**{switch: True}))
    )
    arch = load_model("qwen3-14b").arch
    assert eager - compiled == arch.layers * 4 * 4096 * arch.hidden * 2


def test_a_norm_behind_the_block_reads_it() -> None:
    """Gemma's does: nothing is dropped."""
    plans = [_scenario("gemma2-9b", runtime=Runtime(compile=compiled)).plan for compiled in (False, True)]
    products = {_kept(plan, "gemma2-9b") for plan in plans}
    assert len(products) == 1


def test_a_compiled_graph_has_one_pool() -> None:
    """Its collectives allocate where it computes, so gradients reuse what the loss has freed."""
    scenario = _scenario("llama3-8b", runtime=Runtime(traced=True, loss=LossKernel.COMPILED))
    stage = evaluate(scenario).stages[0]
    assert stage.phase == "loss"
    assert stage.reserved.low == stage.peak_bytes + WORKSPACE_LOW
    assert stage.reserved.likely <= 1.02 * stage.peak_bytes
    several = evaluate(_scenario("llama3-8b", runtime=Runtime(loss=LossKernel.COMPILED))).stages[0]
    assert several.reserved.likely - several.peak_bytes > several.parts.weights


def test_fsdp1_frees_late() -> None:
    """record_stream: at the loss one unit more is still allocated than under FSDP2."""
    one, two = (
        _scenario("llama2-7b", strategy=strategy, runtime=Runtime(loss=LossKernel.UPCAST_KEPT))
        for strategy in (Strategy.FSDP1, Strategy.FSDP)
    )
    layer = contents_of(load_of(one.model.arch, one.plan))[0].largest
    assert layer is not None
    found = [evaluate(scenario).stages[0] for scenario in (one, two)]
    assert [stage.phase for stage in found] == ["loss", "loss"]
    assert found[0].parts.unsharded - found[1].parts.unsharded == 2 * layer.unit.numel
