"""Public bug reports of training-memory calculators, each as the case that it is about."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from scaletui_engine.catalog import load_model
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.lesson import memory_calculator
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.contents import Contents, contents_of
from scaletui_engine.memory.conventions.accelerate import training_usage
from scaletui_engine.memory.conventions.deepspeed import DeepspeedCase, zero2_documented, zero2_needs
from scaletui_engine.memory.host import host_budget
from scaletui_engine.memory.inflight import Pipeline, in_flight
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases import moments
from scaletui_engine.memory.phases.units import whole_layers
from scaletui_engine.memory.suspects import leaks, suspects
from scaletui_engine.model import Arch, Moe, Norm
from scaletui_engine.plan import Axes, Offload, Plan, Recompute, Split, Strategy
from scaletui_engine.precisions import precision
from scaletui_engine.runtime import Attention, Framework, Lora, LossKernel, Runtime
from scaletui_engine.tensors import count_parameters
from scaletui_engine.units import GB, GIB

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

SEVEN_B = Choices("llama2-7b", "h100-sxm", 8)
EIGHT_B = Choices("llama3.1-8b", "h100-sxm", 8, seq=8192)
PARAMS_7B, PARAMS_8B = 6_738_415_616, 8_030_261_248


def _plan(scenario: Scenario, **changes: object) -> Scenario:
    return replace(scenario, plan=replace(scenario.plan, **changes))  # type: ignore[arg-type]


def _runtime(scenario: Scenario, **changes: object) -> Scenario:
    return _plan(scenario, runtime=replace(scenario.plan.runtime, **changes))  # type: ignore[arg-type]


def _ranks(scenario: Scenario) -> tuple[Contents, ...]:
    return contents_of(load_of(scenario.model.arch, scenario.plan))


def _term(scenario: Scenario, name: str) -> int:
    """The most bytes that a term has at any moment of rank 0."""
    return max(moment.pool(name) for moment in moments(_ranks(scenario)[0]))


def _layer_bytes(**moe: int) -> dict[str, int]:
    """Saved tensors of a layer of Mixtral with other experts; of its dense layer with topk=0."""
    ep = moe.pop("ep", 1)
    scenario = scenario_from(Choices("mixtral-8x7b", "h100-sxm", 8, ep=ep))
    arch = scenario.model.arch
    assert arch.moe is not None
    changed = replace(arch, moe=replace(arch.moe, **moe) if moe["topk"] else None)
    kind = contents_of(load_of(changed, scenario.plan))[0].layers[0][0]
    return {saved.name: saved.bytes for saved in kind.activations.everything}


INNER = ("activation_input", "down_input", "gate_output")
ROUTED = (*(f"moe.{name}" for name in INNER), "moe.permuted_input", "moe.expert_output")


@pytest.mark.parametrize("ep", [1, 2, 8])
@pytest.mark.parametrize("topk", [1, 2, 4])
def test_megatron_1784_experts_are_topk_times_the_dense_mlp(topk: int, ep: int) -> None:
    """However many ranks share them: each gets as many tokens as it has, topk times."""
    saved, dense = _layer_bytes(topk=topk, ep=ep), _layer_bytes(topk=0)
    assert {name: saved[f"moe.{name}"] for name in INNER} == {
        name: topk * dense[f"mlp.{name}"] for name in INNER
    }
    tokens, experts = 4096, 8
    assert saved["moe.router_scores"] == 4 * experts * tokens


def test_megatron_6782_doubling_topk_doubles_the_experts_alone() -> None:
    two, four = _layer_bytes(topk=2), _layer_bytes(topk=4)
    assert {name: four[name] / two[name] for name in two} == {
        name: 2 if name in ROUTED else 1 for name in two
    }


def _uneven(moe: Moe | None) -> list[int]:
    """Parameters of each stage of 8 small layers that lie 1, 2, 2 and 3 on 4 stages."""
    toy = Arch(8, 16, 4, 4, 4, 64, 32, norm=Norm.LAYERNORM, gated=False, act="gelu", moe=moe)
    plan = Plan(
        Axes(pp=4),
        Strategy.ZERO1,
        layer_split=(1, 2, 2, 3),
        global_batch=4,
        runtime=Runtime(vocab_multiple=1),
    )
    return [rank.layers_numel + rank.root_numel for rank in contents_of(load_of(toy, plan))]


def test_megatron_bridge_5077_the_heaviest_stage_not_the_mean() -> None:
    """Its own test: the last stage has 9,952 parameters; a mean of layers and the last norm, and one of the
    two 32 by 16 matrices of the ends, gave 6,792."""
    counts = _uneven(None)
    assert max(counts) == counts[3] == 9952
    assert (sum(counts) - 2 * 32 * 16) / 4 + 32 * 16 == 6792
    layer = counts[1] // 2
    assert counts[0] == layer + 32 * 16


def test_megatron_bridge_5077_layers_of_experts_where_they_lie() -> None:
    """Three dense layers first: the two stages of experts alone differ by one such layer and the head."""
    dense, mixed = _uneven(None), _uneven(Moe(experts=4, topk=1, ffn=32, first_dense=3))
    assert mixed[:2] == dense[:2]
    experts = 4 * 2 * 16 * 32 + 4 * 16 - 2 * 16 * 64
    assert [more - plain for more, plain in zip(mixed, dense, strict=True)] == [
        0,
        0,
        2 * experts,
        3 * experts,
    ]


def test_megatron_bridge_5077_the_budget_is_that_of_the_heaviest_stage() -> None:
    choices = Choices("llama3.2-1b", "h100-sxm", 4, pp=4, layer_split=(2, 4, 4, 6))
    weights = [rank.states.weights for rank in _ranks(scenario_from(choices))]
    budget = evaluate(scenario_from(choices))
    assert budget.peak.peak_bytes == max(stage.peak_bytes for stage in budget.stages)
    assert max(weights) > 1.3 * sum(weights) / 4


def test_deepspeed_5099_zero_2_by_the_code_and_by_the_paper() -> None:
    params = 2_851_000_000
    needs = zero2_needs(DeepspeedCase(params, 8))
    assert needs.gpu == 2 * params + 18 * params // 8
    assert round(needs.gpu / GB, 2) == 12.12
    assert round(needs.gpu / GIB, 2) == 11.28
    ours = scenario_from(replace(SEVEN_B, strategy=Strategy.ZERO2))
    held = _ranks(ours)[0].states
    states = held.weights + held.gradients + held.optimizer + held.master_weights
    assert states == pytest.approx(2 * PARAMS_7B + 14 * PARAMS_7B / 8, rel=1e-6)
    assert _term(ours, "buffers.fp32_gradients") == pytest.approx(4 * PARAMS_7B / 8, rel=1e-6)


def test_deepspeed_5099_the_page_still_prints_4_and_16_bytes() -> None:
    """docs/code-docs/source/memory.rst: 15.93 GB a GPU, and 5.31 GB with the optimizer on the host (GiB)."""
    case = DeepspeedCase(2_851_000_000, 8)
    on_host = replace(case, offload=Offload.OPTIMIZER)
    assert round(zero2_documented(case).gpu / GIB, 2) == 15.93
    assert round(zero2_documented(on_host).gpu / GIB, 2) == 5.31
    assert zero2_documented(on_host) == zero2_needs(on_host)


def test_deepspeed_5304_adapters_alone_are_trained() -> None:
    scenario = _plan(scenario_from(replace(SEVEN_B, gpus=1, strategy=Strategy.DDP)), lora=Lora(rank=8))
    (rank,) = _ranks(scenario)
    assert rank.trainable == 4_194_304
    held = rank.states
    states = held.weights + held.gradients + held.optimizer
    assert states == 2 * PARAMS_7B + 16 * 4_194_304
    assert round(states / GB, 2) == 13.54


def test_deepspeed_7693_host_memory_by_the_paper_and_as_observed() -> None:
    choices = Choices("llama3.1-8b", "h100-sxm", 8, strategy=Strategy.ZERO3, offload=Offload.OPTIMIZER)
    host = host_budget(scenario_from(choices))
    assert host.states.low == pytest.approx(16 * PARAMS_8B, rel=1e-6)
    assert host.states.high == pytest.approx(28 * PARAMS_8B, rel=1e-6)
    two_nodes = host_budget(scenario_from(replace(choices, gpus=16)))
    assert two_nodes.states.low == pytest.approx(host.states.low / 2, rel=1e-6)


def test_deepspeed_4477_megatron_77_four_stages_four_numbers() -> None:
    choices = Choices("llama3.1-8b", "h100-sxm", 8, pp=4, strategy=Strategy.ZERO1, global_batch=16)
    peaks = [stage.peak_bytes for stage in evaluate(scenario_from(choices)).stages]
    assert len(set(peaks)) == 4
    assert peaks[0] > peaks[1] > peaks[2]


def test_deepspeed_467_4700_offload_lowers_states_not_the_peak_of_the_passes() -> None:
    plain = scenario_from(replace(SEVEN_B, strategy=Strategy.ZERO2))
    offloaded = _plan(plain, offload=Offload.OPTIMIZER)
    stage, before = evaluate(offloaded).stages[0], evaluate(plain).stages[0]
    assert stage.parts.weights == pytest.approx(2 * PARAMS_7B, rel=1e-6)
    assert stage.parts.optimizer == stage.parts.master_weights == 0
    assert stage.parts.activations == pytest.approx(before.parts.activations, rel=0.01)
    assert stage.reserved.low >= stage.peak_bytes > 1.5 * stage.parts.weights


@pytest.mark.parametrize("rank", [4, 64, 512])
def test_gpu_poor_1_quantising_the_base_never_needs_more(rank: int) -> None:
    base = scenario_from(replace(SEVEN_B, gpus=1, strategy=Strategy.DDP))
    lora, qlora = (_plan(base, lora=Lora(rank=rank, quantized=quantized)) for quantized in (False, True))
    assert evaluate(qlora).peak.peak_bytes < evaluate(lora).peak.peak_bytes


def test_gpu_poor_5_rank_and_targets_are_inputs() -> None:
    base = scenario_from(replace(SEVEN_B, gpus=1, strategy=Strategy.DDP))
    eight, sixty_four = (_ranks(_plan(base, lora=Lora(rank=rank)))[0] for rank in (8, 64))
    assert sixty_four.trainable == 8 * eight.trainable
    more = _ranks(_plan(base, lora=Lora(rank=8, targets=("wq", "wk", "wv", "wo"))))[0]
    assert more.trainable == 2 * eight.trainable


def test_llm_analysis_19_27_two_norms_a_layer_whole_on_every_tp_rank() -> None:
    choices = replace(EIGHT_B, tp=8, strategy=Strategy.ZERO1, precision="megatron")
    (rank,) = _ranks(scenario_from(choices))
    layer = rank.layers[0][0].unit
    norms = [tensor.numel for tensor in layer.tensors if tensor.name.endswith("norm")]
    assert norms == [4096, 4096]
    head = next(unit for unit in rank.ends if unit.name == "head")
    in_all = 32 * sum(norms) + sum(tensor.numel for tensor in head.tensors if tensor.name == "norm")
    assert in_all * precision("megatron").adam_bytes == 65 * 4096 * 18


@pytest.mark.parametrize("tp", [1, 2, 4])
def test_llm_analysis_19_a_norm_with_a_bias_has_twice_as_many_numbers(tp: int) -> None:
    toy = Arch(8, 16, 4, 4, 4, 64, 32, norm=Norm.LAYERNORM, gated=False, act="gelu")
    plan = Plan(Axes(tp=tp), Strategy.ZERO1, global_batch=4, runtime=Runtime(vocab_multiple=1))
    (rank,) = contents_of(load_of(toy, plan))
    norms = [tensor.numel for tensor in rank.layers[0][0].unit.tensors if "norm" in tensor.name]
    assert sum(norms) == 2 * 2 * 16


def test_zero_bubble_36_63_zbv_holds_embedding_and_head_on_rank_0() -> None:
    choices = Choices(
        "llama3.1-8b", "h100-sxm", 4, pp=4, schedule="zb-v", chunks=2, strategy=Strategy.ZERO1, global_batch=8
    )
    ranks = _ranks(scenario_from(choices))
    assert [unit.name for unit in ranks[0].ends] == ["embedding", "head"]
    assert all(rank.ends == () for rank in ranks[1:])
    layer = ranks[0].layers[0][0].unit.numel
    assert [rank.layers_numel for rank in ranks] == [8 * layer] * 4


def test_torchtitan_822_never_resharding_costs_all_but_root_and_last_layer() -> None:
    scenario = _plan(scenario_from(EIGHT_B), recompute=Recompute.SELECTIVE)
    never = _plan(scenario, reshard_after_forward=False)
    more = evaluate(never).peak.peak_bytes - evaluate(scenario).peak.peak_bytes
    assert round(more / GIB, 2) == 12.59


def test_torchtitan_996_chunked_loss_against_the_spike() -> None:
    scenario = _plan(scenario_from(EIGHT_B), recompute=Recompute.SELECTIVE)
    chunked = _runtime(scenario, loss=LossKernel.CHUNKED)
    less = evaluate(scenario).peak.reserved.likely - evaluate(chunked).peak.reserved.likely
    assert less / GIB == pytest.approx(49.58 - 42.26, rel=0.16)


def test_torchtitan_820_a_gap_as_large_as_the_weights_names_them() -> None:
    scenario = _plan(scenario_from(EIGHT_B), recompute=Recompute.SELECTIVE)
    gap = round((58.55 - 47.77) * GIB)
    assert "suspect.unsharded_weights" in [suspect.id for suspect in suspects(scenario, gap)]
    assert suspects(scenario, GIB // 4) == ()


def test_torchtitan_1230_peaks_that_only_rise_are_a_leak() -> None:
    assert leaks([round(peak * GIB) for peak in (49.66, 60.1, 75.4, 90.29)])
    assert not leaks([round(peak * GIB) for peak in (42.08, 49.59, 49.59, 49.58)])


def test_lit_llama_389_the_foreach_step_needs_a_copy_of_the_shard() -> None:
    scenario = scenario_from(replace(SEVEN_B, gpus=4))
    assert _term(scenario, "buffers.optimizer_temporary") == pytest.approx(4 * PARAMS_7B / 4, rel=1e-4)


def test_pytorch_98354_without_the_limit_every_unit_may_be_whole() -> None:
    scenario = scenario_from(replace(SEVEN_B, strategy=Strategy.FSDP1))
    free = _runtime(scenario, limit_all_gathers=False)
    layers = _ranks(scenario)[0].layers_numel * 2
    assert _term(free, "unsharded.layers") == layers
    limited = _term(scenario, "unsharded.layer") + _term(scenario, "unsharded.gathering")
    assert limited == 2 * layers // 32


def test_megatron_525_597_states_apart_from_unfused_scores() -> None:
    choices = Choices(
        "gpt2-large-774m", "v100-sxm2-32", 1, strategy=Strategy.ZERO1, precision="megatron", micro_batch=4
    )
    scenario = _runtime(
        scenario_from(choices), framework=Framework.MEGATRON, attention=Attention.UNFUSED, dropout=True
    )
    (stage,) = evaluate(scenario).stages
    parts = stage.parts
    states = parts.weights + parts.gradients + parts.optimizer + parts.master_weights
    assert states == pytest.approx(18 * 774_030_080, rel=0.01)
    scores = 36 * 4 * 1024 * 1024 * 20 * 5
    assert parts.activations > scores
    assert stage.outside.low > 0


def test_megatron_lm_150_many_ranks_leave_two_units_of_buffers() -> None:
    scenario = scenario_from(replace(EIGHT_B, gpus=512, recompute=Recompute.FULL))
    rank = _ranks(scenario)[0]
    assert rank.largest is not None
    unit = rank.largest.unit.numel * 2
    assert evaluate(scenario).stages[0].parts.unsharded >= 2 * unit


@pytest.mark.parametrize(("pp", "left"), [(1, 1), (2, 16)])
def test_torch_frees_layers_in_the_backward_pass_but_in_pipelines(pp: int, left: int) -> None:
    """Under no_sync too (_fsdp_param_group.py, `post_backward`); pipelining/stage.py says otherwise."""
    scenario = scenario_from(replace(EIGHT_B, pp=pp, global_batch=64))
    rank = _ranks(_runtime(_plan(scenario, reshard_after_forward=False), no_sync=True))[0]
    assert rank.sums_whole
    assert rank.largest is not None
    (_, _, held), *_ = whole_layers(rank, 0, 1)
    assert held == left * rank.largest.unit.numel * 2


def test_zero_plus_plus_a_second_copy_is_held_beside_the_shards() -> None:
    """hpZ: each node of 8 holds every weight once more, in 16 bits (arXiv:2306.10209, section 3.2).

    But for the 65 norms: ZeRO-3 keeps them whole.
    """
    scenario = scenario_from(replace(SEVEN_B, gpus=64, strategy=Strategy.ZERO3))
    second = _runtime(scenario, zero_hpz=8)
    assert _term(second, "weights.second_copy") == 2 * (PARAMS_7B - 65 * 4096) // 8
    more = evaluate(second).stages[0].parts.weights - evaluate(scenario).stages[0].parts.weights
    assert more == _term(second, "weights.second_copy")


def test_accelerate_the_largest_part_is_not_the_sum() -> None:
    bert = 108_310_272
    usage = training_usage(bert, "float16")
    assert usage.printed == 8 * bert
    ours = precision("bf16-mixed").adam_bytes * bert
    assert ours == 2 * usage.printed == usage.model + 4 * bert + usage.optimizer


def test_cookbook_zero_3_divides_weights_once() -> None:
    choices = Choices("llama2-7b", "h100-sxm", 8, tp=8, strategy=Strategy.ZERO3)
    (rank,) = _ranks(scenario_from(choices))
    assert rank.states.weights == pytest.approx(2 * PARAMS_7B / 8, rel=0.01)


def test_george614_experts_never_lower_activations() -> None:
    scenario = scenario_from(EIGHT_B)
    arch = scenario.model.arch
    experts = replace(arch, moe=Moe(experts=8, topk=2, ffn=arch.ffn))
    dense, sparse = (contents_of(load_of(one, scenario.plan))[0].kept for one in (arch, experts))
    assert sparse >= dense


def test_xtuner_interleaved_rank_0_holds_eleven_chunks() -> None:
    assert in_flight(Pipeline("interleaved-1f1b", 4, 16, 2))[0] == Fraction(11, 2)


def test_simumax_two_microbatches_are_at_most_two_in_flight() -> None:
    assert in_flight(Pipeline("1f1b", 8, 2))[0] == 2


def test_playbook_sequence_parallelism_divides_the_scores_too() -> None:
    choices = Choices("gpt3-175b", "h100-sxm", 8, tp=8, strategy=Strategy.ZERO1, seq=2048)
    scenario = _runtime(scenario_from(choices), attention=Attention.UNFUSED, dropout=True)
    saved = _ranks(scenario)[0].layers[0][0].activations.everything
    scores = sum(tensor.bytes for tensor in saved if tensor.module == "core_attn")
    assert scores == 5 * 96 * 2048 * 2048 // 8


def test_the_lesson_counts_twelve_bytes_a_parameter_and_nothing_that_is_whole_for_a_moment() -> None:
    """70 B on 8 GPUs are 105 GB by its calculator; of 7 B it counts 56 GB of Adam, where its text has 28."""
    states = memory_calculator(70, num_gpus=8, sharding="fsdp")
    assert states["weights_gb"] + states["gradients_gb"] + states["optimizer_gb"] == pytest.approx(105)
    assert [memory_calculator(size)["optimizer_gb"] for size in (7, 70)] == [56, 560]
    sequence = memory_calculator(7, hidden_dim=4096, num_layers=1)
    assert sequence["activations_gb"] * GB == 2048 * 4096 * 4 * 2


def test_the_lessons_recipe_has_no_master_weights_and_is_shown_with_what_it_leaves_out() -> None:
    params = count_parameters(load_model("llama2-70b").arch).total
    taught, real = (
        evaluate(
            scenario_from(Choices("llama2-70b", "h100-sxm", 8, precision=recipe, layer_split=Split.EVEN))
        )
        .stages[0]
        .parts
        for recipe in ("lesson", "bf16-mixed")
    )
    assert taught.weights + taught.optimizer == pytest.approx(10 * params / 8, rel=1e-3)
    assert taught.master_weights == 0
    assert real.weights + real.master_weights == pytest.approx(4 * params / 8, rel=1e-3)
    assert min(taught.unsharded, real.unsharded) > 0, "a layer is whole for a moment, in either"


def test_runtime_defaults_are_the_frameworks_own() -> None:
    assert Runtime().framework is Framework.AUTO
    assert Runtime().loss is LossKernel.AUTO
