"""What must hold for every plan, whatever its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaletui_engine.catalog import load_model
from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.evaluation import stages_of
from scaletui_engine.memory.fsdp2 import ParameterShape, Shard, sharded_bytes
from scaletui_engine.memory.load import load_of
from scaletui_engine.model import Arch
from scaletui_engine.plan import Axes, Offload, Plan, Recompute, Split, Strategy
from scaletui_engine.runtime import Attention, Lora, LossKernel, OptimizerLoop, RouterWeights, Runtime

if TYPE_CHECKING:
    from scaletui_engine.memory.budget import StageBudget
    from scaletui_engine.memory.states import States

NAMES = (
    "llama3.1-8b",
    "gpt2-xl-1558m",
    "gemma2-9b",
    "phi-2",
    "mixtral-8x7b",
    "deepseek-v2-lite-16b",
    "qwen3-14b",
)
TARGETS = ("wq", "wk", "wv", "wo", "w1", "w2", "w3")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans whose degrees are powers of two; not all are valid for every model, but all have a budget."""
    axes = Axes(
        tp=draw(st.sampled_from((1, 2, 8))),
        cp=draw(st.sampled_from((1, 2))),
        pp=draw(st.sampled_from((1, 2, 4))),
        dp_replicate=draw(st.sampled_from((1, 2))),
        dp_shard=draw(st.sampled_from((1, 2, 8, 64))),
    )
    micro_batch, batches = draw(st.integers(1, 4)), draw(st.sampled_from((1, 2, 8)))
    return Plan(
        axes=axes,
        strategy=draw(st.sampled_from(Strategy)),
        precision=draw(st.sampled_from(("bf16-mixed", "fp32", "bf16-pure", "megatron", "fp8-te"))),
        optimizer=draw(
            st.sampled_from(("adamw", "adamw-fused", "sgd", "momentum", "adam8bit", "muon", "lion"))
        ),
        recompute=draw(st.sampled_from(Recompute)),
        offload=draw(st.sampled_from(Offload)),
        reshard_after_forward=draw(st.booleans()),
        sequence_parallel=draw(st.booleans()),
        micro_batch=micro_batch,
        global_batch=micro_batch * batches * axes.dp,
        seq=draw(st.sampled_from((512, 2048, 8192))),
        layer_split=Split.ENDS if axes.pp > 1 else Split.EVEN,
        runtime=draw(runtimes()),
    )


@st.composite
def runtimes(draw: st.DrawFn) -> Runtime:
    """Switches that change bytes."""
    return Runtime(
        attention=draw(st.sampled_from(Attention)),
        optimizer_loop=draw(st.sampled_from(OptimizerLoop)),
        compile=draw(st.booleans()),
        dropout=draw(st.booleans()),
        loss=draw(st.sampled_from(LossKernel)),
        split_root=draw(st.booleans()),
        reshard_root=draw(st.booleans()),
        traced=draw(st.booleans()),
        no_sync=draw(st.booleans()),
        activation_offload=draw(st.booleans()),
        float8=draw(st.booleans()),
        float8_saved=draw(st.sampled_from(((), ("mlp", "moe", "shared_experts")))),
        float8_tile=draw(st.sampled_from((None, 128))),
        attention_output_bits=draw(st.sampled_from((None, 12))),
        router_weights=draw(st.sampled_from(RouterWeights)),
        zero_hpz=draw(st.sampled_from((1, 2))),
    )


def _stages(name: str, plan: Plan) -> tuple[StageBudget, ...]:
    return stages_of(load_of(load_model(name).arch, plan))


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(NAMES), plan=plans())
def test_parts_are_whole_never_negative_and_sum_to_the_peak(name: str, plan: Plan) -> None:
    for stage in _stages(name, plan):
        values = [value for _, value in stage.parts.items()]
        assert all(isinstance(value, int) and value >= 0 for value in values)
        assert sum(values) == stage.peak_bytes > 0
        assert stage.peak_bytes <= stage.reserved.low <= stage.reserved.likely <= stage.reserved.high
        assert 0 < stage.outside.low <= stage.outside.high


@settings(max_examples=100, deadline=None)
@given(name=st.sampled_from(NAMES), plan=plans())
def test_recompute_never_raises_what_a_stage_keeps(name: str, plan: Plan) -> None:
    arch = load_model(name).arch
    kept = [
        [rank.kept for rank in contents_of(load_of(arch, replace(plan, recompute=policy)))]
        for policy in (Recompute.FULL, Recompute.SELECTIVE, Recompute.NONE)
    ]
    assert all(full <= some <= none for full, some, none in zip(*kept, strict=True))


@settings(max_examples=100, deadline=None)
@given(name=st.sampled_from(NAMES), plan=plans())
def test_recompute_never_raises_a_stages_activations_at_the_peak(name: str, plan: Plan) -> None:
    plain = _stages(name, replace(plan, recompute=Recompute.NONE))
    full = _stages(name, replace(plan, recompute=Recompute.FULL))
    assert all(less.peak_bytes <= more.peak_bytes for less, more in zip(full, plain, strict=True))


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(NAMES), plan=plans(), every=st.integers(2, 5))
def test_every_kth_layer_lies_between_all_and_none(name: str, plan: Plan, every: int) -> None:
    arch = load_model(name).arch
    full = replace(plan, recompute=Recompute.FULL)
    some = replace(full, runtime=replace(plan.runtime, recompute_every=every))
    kept = [
        [rank.kept for rank in contents_of(load_of(arch, one))]
        for one in (full, some, replace(plan, recompute=Recompute.NONE))
    ]
    assert all(least <= middle <= most for least, middle, most in zip(*kept, strict=True))


def _total(states: States) -> int:
    return states.weights + states.gradients + states.optimizer + states.master_weights


@settings(max_examples=100, deadline=None)
@given(
    shapes=st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 64)), min_size=1, max_size=8),
    degree=st.integers(1, 512),
    factor=st.integers(2, 8),
)
def test_more_sharding_never_raises_unpadded_states(
    shapes: list[tuple[int, int]], degree: int, factor: int
) -> None:
    """Padded ones by at most one padding block a parameter: a row for the rank."""
    parameters = [ParameterShape(str(index), shape) for index, shape in enumerate(shapes)]
    few = [sharded_bytes(parameters, Shard(degree, rank)) for rank in (0, degree - 1)]
    many = [sharded_bytes(parameters, Shard(degree * factor, rank)) for rank in (0, degree * factor - 1)]
    assert max(held.moments for held in many) <= max(held.moments for held in few)
    block = sum(4 * columns for _, columns in shapes)
    assert many[0].weights <= few[0].weights + block
    assert many[0].weights >= sum(4 * rows * columns for rows, columns in shapes) / (degree * factor)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(NAMES), strategy=st.sampled_from(Strategy), shard=st.sampled_from((1, 2, 4, 32, 256))
)
def test_doubling_the_shard_group_never_raises_states(name: str, strategy: Strategy, shard: int) -> None:
    arch = load_model(name).arch
    few, many = (
        sum(_total(rank.states) for rank in contents_of(load_of(arch, Plan(Axes(dp_shard=degree), strategy))))
        for degree in (shard, 2 * shard)
    )
    padding = 64 * arch.layers * arch.hidden * 4
    assert many <= few + padding


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(("llama3.1-8b", "llama2-7b", "qwen3-14b", "mistral-7b")),
    rank=st.integers(1, 700),
    targets=st.sets(st.sampled_from(TARGETS), min_size=1).map(tuple),
    precision=st.sampled_from(("bf16-mixed", "fp32")),
)
def test_qlora_at_most_lora_at_most_full(
    name: str, rank: int, targets: tuple[str, ...], precision: str
) -> None:
    """States, for ranks up to 7/8 in x out / (in + out) of each target: 700 is below that here."""
    arch = load_model(name).arch
    plan = Plan(Axes(), Strategy.DDP, precision=precision)
    full, lora, qlora = (
        _total(contents_of(load_of(arch, replace(plan, lora=adapters)))[0].states)
        for adapters in (None, Lora(rank, targets), Lora(rank, targets, quantized=True))
    )
    assert qlora <= lora <= full


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(NAMES), plan=plans())
def test_twice_the_batch_and_twice_the_sequence_keep_the_same_with_flash(name: str, plan: Plan) -> None:
    flash = replace(plan, runtime=replace(plan.runtime, attention=Attention.FLASH))
    arch = load_model(name).arch
    batch = replace(flash, micro_batch=2 * flash.micro_batch, global_batch=2 * flash.global_batch)
    longer = replace(flash, seq=2 * flash.seq)
    kept = [[rank.kept for rank in contents_of(load_of(arch, one))] for one in (batch, longer)]
    assert kept[0] == kept[1]


@settings(max_examples=40, deadline=None)
@given(topk=st.integers(1, 8), plan=plans())
def test_topk_scales_the_experts_alone(topk: int, plan: Plan) -> None:
    arch = load_model("deepseek-v2-lite-16b").arch
    assert arch.moe is not None
    one, many = (
        contents_of(load_of(replace(arch, moe=replace(arch.moe, topk=count)), replace(plan, axes=Axes())))[0]
        for count in (1, topk)
    )
    assert one.states == many.states
    routed = (
        "moe.activation_input",
        "moe.down_input",
        "moe.gate_output",
        "moe.permuted_input",
        "moe.expert_output",
        "moe.router_weights",
    )
    before, after = (
        {saved.name: saved.bytes for saved in rank.layers[-1][0].activations.everything}
        for rank in (one, many)
    )
    assert all(after[name] == before[name] * (topk if name in routed else 1) for name in before)


GIANT = Arch(layers=1000, hidden=1 << 17, heads=1024, kv_heads=1024, head_dim=128, ffn=1 << 18, vocab=1 << 20)


@pytest.mark.parametrize("gpus", [8, 1 << 20])
@pytest.mark.parametrize("strategy", list(Strategy))
def test_ten_trillion_parameters_and_a_million_gpus(gpus: int, strategy: Strategy) -> None:
    """The giant has 172 trillion parameters; integers do not overflow, and nothing is negative."""
    replicate, shard = (gpus, 1) if strategy is Strategy.DDP else (1, gpus)
    plan = Plan(
        Axes(dp_replicate=replicate, dp_shard=shard),
        strategy,
        micro_batch=64,
        global_batch=64 * gpus,
        seq=1 << 20,
    )
    (stage,) = stages_of(load_of(GIANT, plan))
    assert all(value >= 0 for _, value in stage.parts.items())
    assert stage.parts.activations > 1 << 50


def test_a_million_gpus_and_eight_keep_the_same_activations() -> None:
    few, many = (scenario_from(Choices("llama3.1-405b", "h100-sxm", gpus)) for gpus in (8, 1 << 20))
    kept = [contents_of(load_of(scenario.model.arch, scenario.plan))[0].kept for scenario in (few, many)]
    assert kept[0] == kept[1]
    assert evaluate(few).stages[0].parts.weights > evaluate(many).stages[0].parts.weights > 0
