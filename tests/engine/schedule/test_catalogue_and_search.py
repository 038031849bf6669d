"""All schedules side by side, the zero-bubble search, and a scenario's own pipeline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.defaults import Choices as ScenarioChoices
from scaletui_engine.defaults import scenario_from
from scaletui_engine.errors import ScenarioError, ValueRangeError
from scaletui_engine.memory import evaluate as memory_of
from scaletui_engine.plan import Recompute, Split
from scaletui_engine.schedule.activations import activations_of
from scaletui_engine.schedule.bubble import bubble_of
from scaletui_engine.schedule.catalogue import Comparison, catalogue
from scaletui_engine.schedule.deltas import Deltas
from scaletui_engine.schedule.estimate.flops import stage_flops
from scaletui_engine.schedule.estimate.from_scenario import estimate
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build, schedule_names
from scaletui_engine.schedule.result import evaluate
from scaletui_engine.schedule.shape import Choices, Shape
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import Times, uniform
from scaletui_engine.stages import stage_layers
from scaletui_engine.tensors import count_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.schedule.schedule import Schedule

PAPER = Deltas((1.0,), (-0.5,), (-0.5,))
"""Memory as the search counts it: half of an activation is freed by I, half by W."""


def test_every_schedule_has_a_row_or_a_refusal() -> None:
    rows = catalogue(Comparison(4, 6))
    assert [row.name for row in rows] == list(schedule_names())
    refused = {row.name for row in rows if row.refusal}
    assert refused == {"interleaved-1f1b", "combined-1f1b", "dualpipe", "dualpipev", "DualPipeV"}
    assert all((row.bubble is None) == (row.refusal is not None) for row in rows)


def test_chunks_divide_the_time_of_a_rank() -> None:
    """The same ranks: a schedule of 2 chunks has chunks of half the time, so the ideal is the same."""
    rows = catalogue(Comparison(4, 8), ["1f1b", "interleaved-1f1b", "zb-v", "dualpipev", "dualpipe"])
    assert {row.bubble.ideal for row in rows if row.bubble} == {24}
    assert [row.makespan for row in rows] == [33, 28.5, 25.5, 27, 26]
    assert [row.peak for row in rows] == [4, 5.5, 4, 4.5, 5]


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(ScenarioError, match="unknown schedule '1f1c', did you mean '1f1b'"):
        catalogue(Comparison(4, 8), ["1f1c"])


@pytest.mark.parametrize("limit", [4, 5.5, 8, 16])
def test_the_search_keeps_its_limit(limit: float) -> None:
    request = Request("zb-auto", Shape(4, 16), Choices(memory_limit=limit), uniform(1.1, 1, 0.7, 0.05))
    timeline = simulate(build(request), request.times)
    assert activations_of(timeline, PAPER).peak.max() <= limit + 1e-9


def test_more_memory_never_costs_time(facts: dict[str, Any]) -> None:
    """From the paper's measured times: ZB-1p equals ZB-H1, ZB-2p is better than ZB-H2."""
    row = facts["zb_paper_table5_and_9"]["rows"][3]
    times = uniform(row["TF"], row["TB_input"], row["TW"], row["Tcomm"])
    shape, paper = Shape(row["p"], row["m"]), row["paper_bubble_C"]
    bubbles = [
        round(
            bubble_of(
                simulate(build(Request("zb-auto", shape, Choices(memory_limit=n * row["p"]), times)), times)
            ).zero_bubble,
            4,
        )
        for n in (1, 2)
    ]
    assert bubbles == [paper["ZB-1p"], paper["ZB-2p"]]
    assert bubbles[0] == paper["ZB-H1"]
    assert bubbles[1] < paper["ZB-H2"]


@pytest.mark.parametrize("last", [(2.0, 0.0, 1.0, 0.0), (0.0, 0.0, 4.0, 0.1), (3.0, 3.0, 0.0, 3.0)])
@pytest.mark.parametrize("limit", [None, 3, 100])
def test_the_search_takes_any_uneven_stages(last: tuple[float, ...], limit: float | None) -> None:
    """A rank never warms up with forwards whose inputs no earlier rank has made."""
    times = Times(last, (2.0, 2.0, 1.0, 1.0), (1.0, 0.0, 0.5, 1.0), comm=(0.0, 1.0, 0.0))
    request = Request("zb-auto", Shape(4, 9), Choices(memory_limit=limit), times)
    timeline = simulate(build(request), times)
    assert len(timeline.end) == 4 * 9 * 3
    assert activations_of(timeline, PAPER).peak.max() <= (limit or 8) + 1e-9


@pytest.mark.parametrize("limit", [0.5, -1, float("nan")])
def test_a_limit_below_one_microbatch(limit: float) -> None:
    with pytest.raises(ValueRangeError, match=r"memory limit .* < 1 microbatch; nearest valid: 1"):
        build(Request("zb-auto", Shape(4, 8), Choices(memory_limit=limit)))


def test_a_search_that_would_not_end(make: Callable[..., Schedule]) -> None:
    with pytest.raises(ValueRangeError, match="zb-auto tries 1048576 places"):
        make("zb-auto", 64, 1 << 14)


LLAMA = ScenarioChoices("llama3-8b", "h100-sxm", 64, pp=4, tp=2, global_batch=64)


def test_stage_flops_add_up_to_the_models() -> None:
    """2 x tokens x the parameters that a token multiplies with, plus causal attention."""
    scenario = scenario_from(LLAMA)
    arch, plan = scenario.model.arch, scenario.plan
    stages = [stage_flops(arch, plan, stage) for stage in stage_layers(arch.layers, plan)]
    tokens = plan.seq * plan.micro_batch / plan.axes.tp
    norms = arch.hidden * (2 * arch.layers + 1)
    products = 2 * tokens * (count_parameters(arch).active_without_embedding - norms)
    attention = tokens * arch.layers * 2 * 2 * arch.heads * arch.head_dim * plan.seq / 2
    assert sum(stage.forward for stage in stages) == pytest.approx(products + attention)
    assert sum(stage.weight_grad for stage in stages) == pytest.approx(products)
    assert sum(stage.input_grad for stage in stages) == pytest.approx(products + 2.5 * attention)


def test_full_recompute_runs_the_forward_again() -> None:
    plain = scenario_from(LLAMA)
    again = scenario_from(replace(LLAMA, recompute=Recompute.FULL))
    for stage in stage_layers(plain.model.arch.layers, plain.plan):
        one, other = (stage_flops(s.model.arch, s.plan, stage) for s in (plain, again))
        assert other.input_grad == pytest.approx(one.input_grad + one.forward)


def test_a_window_without_a_number_of_layers_is_of_every_layer() -> None:
    """As the model's own field says; Mistral 7B has one of 4,096 tokens in all of its 32 layers."""
    plan = scenario_from(ScenarioChoices("mistral-7b", "h100-sxm", 8, seq=16_384)).plan
    arch = load_model("mistral-7b").arch
    (stage,) = stage_layers(arch.layers, plan)
    assert (arch.sliding_window, arch.sliding_layers) == (4096, 0)
    none, every = replace(arch, sliding_window=None), replace(arch, sliding_layers=arch.layers)
    assert stage_flops(arch, plan, stage) == stage_flops(every, plan, stage)
    saved = stage_flops(none, plan, stage).forward - stage_flops(arch, plan, stage).forward
    keys = 16_384 / 2 - 4096 * (1 - 4096 / (2 * 16_384))
    assert saved == pytest.approx(16_384 * 32 * 4 * 4096 * keys)


def test_a_scenarios_pipeline_is_uneven_and_says_that_it_is_estimated() -> None:
    choices = ScenarioChoices(
        "llama3.1-405b", "h100-sxm", 1024, tp=8, pp=16, layer_split=Split.ENDS, global_batch=512
    )
    scenario = scenario_from(choices)
    found = estimate(scenario)
    times = found.request.times
    assert times.estimated
    assert times.forward[0] < times.forward[1] == times.forward[14]
    assert len(times.comm) == 15
    result = evaluate(build(found.request), times, found.deltas)
    assert result.timeline.makespan > result.bubble.ideal > 0
    budget = memory_of(scenario)
    for rank in range(1, 15):
        assert result.memory.peak[rank] == pytest.approx(budget.stages[rank].parts.activations, rel=0.02)


def test_messages_inside_a_domain_take_its_link() -> None:
    """pp is the outermost axis: 8 GPUs in one domain against 2 domains of 8."""
    inside = estimate(scenario_from(ScenarioChoices("llama3-8b", "h100-sxm", 8, pp=8)))
    across = estimate(scenario_from(ScenarioChoices("llama3-8b", "h100-sxm", 16, tp=8, pp=2)))
    hidden, tokens = 4096, 4096
    assert inside.request.times.comm == pytest.approx((tokens * hidden * 2 / 450e9,) * 7)
    assert across.request.times.comm == pytest.approx((tokens * hidden * 2 / 8 / 50e9,))
