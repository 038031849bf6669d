"""A step unit by unit: its peak is the memory engine's, its bytes the traffic table's, its order by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.errors import ValueRangeError
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.memory.phases import moments
from scaletui_engine.plan import Strategy
from scaletui_engine.runtime import Framework, Runtime
from scaletui_engine.sharding.step_frames import HELD, Act, Gradient, PlayedStep, Weight
from scaletui_engine.sharding.step_player import played_step
from scaletui_engine.sharding.traffic.table import traffic
from scaletui_engine.units import ceil_div
from scaletui_engine.validate import validate

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

COUNTED = HELD[:-1]
"""States and what is unsharded; fixed buffers are drawn beside them."""
DATA = ("fsdp", "dp_cp", "dp_replicate", "edp", "expert_replicate")
SHAPES: dict[str, dict[str, Any]] = {
    "8b": {"model": "llama3-8b", "gpus": 8},
    "8b, 2 microbatches": {"model": "llama3-8b", "gpus": 8, "global_batch": 16},
    "8b, 9 microbatches": {"model": "llama3-8b", "gpus": 8, "global_batch": 72},
    "8b, not resharded": {"model": "llama3-8b", "gpus": 8, "reshard_after_forward": False},
    "8b, fp32": {"model": "llama3-8b", "gpus": 8, "precision": "fp32"},
    "8b, one gpu": {"model": "llama3-8b", "gpus": 1},
    "8b, pp 2": {"model": "llama3-8b", "gpus": 16, "pp": 2, "global_batch": 32},
    "70b, tp 8": {"model": "llama3-70b", "gpus": 64, "tp": 8},
    "405b, tp 8": {"model": "llama3.1-405b", "gpus": 512, "tp": 8},
    "tied": {"model": "qwen3-0.6b", "gpus": 8},
    "experts": {"model": "deepseek-v3", "gpus": 256, "ep": 32},
}
RUNTIMES = {
    "root resharded": Runtime(reshard_root=True),
    "last resharded": Runtime(reshard_last=True),
    "no prefetch": Runtime(prefetch=0),
    "unlimited": Runtime(limit_all_gathers=False),
    "views of buckets": Runtime(gradient_as_bucket_view=True),
}


def scenario(strategy: Strategy, runtime: Runtime | None = None, **options: Any) -> Scenario:
    found = scenario_from(Choices(gpu="h100-sxm", strategy=strategy, **options))
    if runtime is not None:
        found = found.with_plan(replace(found.plan, runtime=runtime))
    validate(found)
    return found


def step(strategy: Strategy, shape: str = "8b", runtime: Runtime | None = None) -> PlayedStep:
    return played_step(scenario(strategy, runtime, **SHAPES[shape]))


def highest(played: PlayedStep) -> int:
    return max(sum(map(frame.part, COUNTED)) for frame in played.frames)


def budgeted(of: Scenario, stage: int) -> int:
    """The most that states and what is unsharded take at any moment of the memory engine."""
    contents = contents_of(load_of(of.model.arch, of.plan))[stage]
    return max(sum(size for part, _, size in moment.terms if part in COUNTED) for moment in moments(contents))


def tabled(of: Scenario, stage: int) -> int:
    """Bytes that the traffic table says data parallelism sends."""
    return sum(
        row.call.sent
        for row in traffic(of, stage).implemented
        if row.group in DATA and row.call.what != "loss_value"
    )


def valid(strategy: Strategy, shape: str) -> bool:
    if shape == "8b, pp 2":
        return strategy not in (Strategy.ZERO2, Strategy.ZERO3)
    return not (strategy is Strategy.HSDP and shape in ("experts", "8b, one gpu"))


GRID = [(strategy, shape) for shape in SHAPES for strategy in Strategy if valid(strategy, shape)]
EXACT = [(strategy, shape) for strategy, shape in GRID if strategy is not Strategy.ZERO3]


@pytest.mark.parametrize(("strategy", "shape"), EXACT)
def test_the_peak_is_the_memory_engines(strategy: Strategy, shape: str) -> None:
    of = scenario(strategy, **SHAPES[shape])
    found = played_step(of)
    assert highest(found) == budgeted(of, found.stage_rank)


@pytest.mark.parametrize("shape", ["8b, 2 microbatches", "8b, 9 microbatches"])
def test_zero3s_peak_is_the_memory_engines(shape: str) -> None:
    of = scenario(Strategy.ZERO3, **SHAPES[shape])
    assert highest(played_step(of)) == budgeted(of, 0)


@pytest.mark.parametrize("shape", ["8b", "70b, tp 8", "405b, tp 8"])
def test_zero3s_peak_moves_with_its_window(shape: str) -> None:
    """The memory engine lets as many parameters live at the last layers as at the first: a window at most."""
    of = scenario(Strategy.ZERO3, **SHAPES[shape])
    found, runtime = played_step(of), of.plan.runtime
    window = (runtime.zero_live + runtime.zero_prefetch) * 2
    assert 0 <= budgeted(of, 0) - highest(found) < window
    assert highest(found) > 0.98 * budgeted(of, 0)


@pytest.mark.parametrize("name", list(RUNTIMES))
@pytest.mark.parametrize("strategy", [Strategy.DDP, Strategy.FSDP, Strategy.FSDP1, Strategy.HSDP])
@pytest.mark.parametrize("shape", ["8b", "8b, 2 microbatches"])
def test_switches_move_the_peak_as_in_the_memory_engine(strategy: Strategy, name: str, shape: str) -> None:
    of = scenario(strategy, RUNTIMES[name], **SHAPES[shape])
    assert highest(played_step(of)) == budgeted(of, 0)


@pytest.mark.parametrize("shape", ["8b", "8b, 2 microbatches"])
@pytest.mark.parametrize("strategy", [Strategy.FSDP, Strategy.HSDP])
def test_a_head_of_its_own_is_reduced_by_itself(strategy: Strategy, shape: str) -> None:
    """The memory engine has no moment for that copy, nor the head's slices at the end: it lacks them."""
    of = scenario(strategy, Runtime(split_root=True), **SHAPES[shape])
    found = played_step(of)
    missing = found.units[-1].kept + found.units[-1].trainable * (2 + 4)
    assert 0 < highest(found) - budgeted(of, 0) < missing
    assert found.frames[found.peak].act is Act.REDUCE


def test_whole_gradients_between_microbatches() -> None:
    """no_sync: the memory engine holds all of the sum to the end, the player frees what has been reduced."""
    of = scenario(Strategy.FSDP, Runtime(no_sync=True), **SHAPES["8b, 2 microbatches"])
    found = played_step(of)
    root = sum(unit.trainable for unit in found.units if not unit.is_layer) * 4
    assert 0 <= budgeted(of, 0) - highest(found) < root
    acts = [frame.act for frame in found.frames if frame.microbatch == 0]
    assert Act.KEEP in acts
    assert Act.REDUCE not in acts
    assert found.frames[-1].sent == tabled(of, 0)


@pytest.mark.parametrize(("strategy", "shape"), GRID)
def test_what_is_sent_is_the_traffic_tables(strategy: Strategy, shape: str) -> None:
    of = scenario(strategy, **SHAPES[shape])
    found = played_step(of)
    assert found.frames[-1].sent == tabled(of, found.stage_rank)
    assert all(before.sent <= after.sent for before, after in pairwise(found.frames))


@pytest.mark.parametrize("strategy", [Strategy.DDP, Strategy.ZERO1, Strategy.FSDP])
@pytest.mark.parametrize("reshards", [True, False])
@pytest.mark.parametrize("shape", ["8b, 2 microbatches", "8b, pp 2"])
def test_megatron_sends_what_the_table_says(strategy: Strategy, reshards: bool, shape: str) -> None:
    """Sharded gradients are reduced after every microbatch, also in a pipeline; whole ones after the last."""
    options = {**SHAPES[shape], "reshard_after_forward": reshards}
    of = scenario(strategy, Runtime(framework=Framework.MEGATRON), **options)
    found, rows = played_step(of), traffic(of).implemented
    assert found.frames[-1].sent == tabled(of, found.stage_rank)
    (reduced,) = {row.call.count for row in rows if row.call.what == "gradients"}
    assert reduced == (of.plan.accumulation if strategy is Strategy.FSDP else 1)


@pytest.mark.parametrize("framework", [Framework.TORCH, Framework.DEEPSPEED])
@pytest.mark.parametrize("shape", ["8b", "8b, 2 microbatches"])
def test_zero1_of_other_frameworks(framework: Framework, shape: str) -> None:
    of = scenario(Strategy.ZERO1, Runtime(framework=framework), **SHAPES[shape])
    found = played_step(of)
    assert found.frames[-1].sent == tabled(of, 0)
    assert highest(found) == budgeted(of, 0)


@pytest.mark.parametrize(("strategy", "shape"), GRID)
def test_a_step_ends_as_it_began(strategy: Strategy, shape: str) -> None:
    found = step(strategy, shape)
    first, last = found.frames[0], found.frames[-1]
    assert (first.act, last.act) == (Act.START, Act.START)
    assert first.parts == last.parts
    assert first.part("unsharded") == last.part("unsharded") == 0
    assert all(min(frame.parts) >= 0 for frame in found.frames)


@pytest.mark.parametrize("strategy", [Strategy.FSDP, Strategy.FSDP1, Strategy.HSDP, Strategy.ZERO3])
@pytest.mark.parametrize("shape", ["8b", "70b, tp 8", "experts"])
def test_a_unit_that_runs_is_whole(strategy: Strategy, shape: str) -> None:
    if valid(strategy, shape):
        found = step(strategy, shape)
        for frame in found.frames:
            if frame.act in (Act.FORWARD, Act.BACKWARD):
                assert frame.unit is not None
                assert frame.weights[frame.unit] == Weight.WHOLE


def test_fsdp_holds_two_layers_at_most_and_keeps_the_last() -> None:
    found = step(Strategy.FSDP)
    layers = [place for place, unit in enumerate(found.units) if unit.is_layer]
    most = max(sum(frame.weights[place] > Weight.SHARD for place in layers) for frame in found.frames)
    assert most == 2
    gathers = [frame.unit for frame in found.frames if frame.act is Act.GATHER]
    assert [gathers.count(place) for place in layers] == [2] * 31 + [1]
    assert gathers.count(0) == 1
    roots = [frame for frame in found.frames if frame.act in (Act.FORWARD, Act.BACKWARD)]
    assert all(frame.weights[0] == frame.weights[-1] == Weight.WHOLE for frame in roots)


def test_only_the_models_last_layer_is_kept() -> None:
    """DeepSeek-V3's first three layers have no experts: the last of those is freed like any other."""
    found = step(Strategy.FSDP, "experts")
    gathers = [found.units[frame.unit or 0].name for frame in found.frames if frame.act is Act.GATHER]
    assert gathers.count("layers.2") == 2
    for name in ("layers.2", "layers.3"):
        unit = next(unit for unit in found.units if unit.name == name)
        assert [wire.payload for wire in unit.wire("weights_forward")] == [
            wire.payload for wire in unit.wire("weights_backward")
        ]
    last = found.units[-2]
    assert [wire.expert for wire in last.wire("weights_backward")] == [True]


def test_the_next_layer_is_gathered_while_one_runs() -> None:
    found = step(Strategy.FSDP)
    names = [unit.name for unit in found.units]
    forward = next(f for f in found.frames if f.act is Act.FORWARD and f.unit == names.index("layers.5"))
    backward = next(f for f in found.frames if f.act is Act.BACKWARD and f.unit == names.index("layers.5"))
    assert forward.weights[names.index("layers.6")] == Weight.GATHERING
    assert backward.weights[names.index("layers.4")] == Weight.GATHERING
    assert forward.weights[names.index("layers.4")] == Weight.SHARD


def test_the_order_of_one_layers_backward_pass() -> None:
    found = step(Strategy.FSDP)
    place = [unit.name for unit in found.units].index("layers.5")
    acts = [frame.act for frame in found.frames if frame.unit == place]
    assert acts == [Act.GATHER, Act.FORWARD, Act.FREE, Act.GATHER, Act.BACKWARD, Act.FREE, Act.REDUCE]
    states = [frame.gradients[place] for frame in found.frames if frame.unit == place]
    assert states[-3:] == [Gradient.PART, Gradient.WHOLE, Gradient.REDUCING]


def test_without_resharding_everything_is_whole_at_the_loss() -> None:
    found = step(Strategy.FSDP, "8b, not resharded")
    at_loss = next(f for f in found.frames if f.act is Act.FORWARD and f.unit == len(found.units) - 1)
    assert set(at_loss.weights) == {Weight.WHOLE}
    assert sum(frame.act is Act.GATHER for frame in found.frames) == 33


def test_deepspeed_keeps_a_window_of_layers() -> None:
    found = step(Strategy.ZERO3)
    at_loss = next(f for f in found.frames if f.act is Act.FORWARD and f.unit == len(found.units) - 1)
    whole = [place for place, state in enumerate(at_loss.weights) if state == Weight.WHOLE]
    assert [found.units[place].name for place in whole] == [
        "embedding", "layers.28", "layers.29", "layers.30", "layers.31", "head",
    ]  # fmt: skip


@pytest.mark.parametrize(("bucket", "reductions"), [(500_000_000, 12), (10**12, 1), (1, 34)])
def test_zero2_reduces_when_a_bucket_is_full(bucket: int, reductions: int) -> None:
    found = step(Strategy.ZERO2, runtime=Runtime(zero_bucket=bucket))
    assert sum(frame.act is Act.REDUCE for frame in found.frames) == reductions
    trained = sum(unit.kept for unit in found.units)
    before_step = next(frame for frame in found.frames if frame.act is Act.STEP)
    assert before_step.part("gradients") == trained
    assert set(before_step.gradients) == {Gradient.SHARD}


def test_gradients_of_ddp_fill_up_and_those_of_megatron_are_there() -> None:
    ddp, zero1 = step(Strategy.DDP), step(Strategy.ZERO1)
    held = [frame.part("gradients") for frame in ddp.frames]
    assert (held[0], max(held), held[-1]) == (0, sum(unit.kept for unit in ddp.units), 0)
    assert {frame.part("gradients") for frame in zero1.frames} == {sum(unit.kept for unit in zero1.units)}


@pytest.mark.parametrize(
    ("strategy", "acts"),
    [
        (Strategy.DDP, [Act.STEP, Act.START]),
        (Strategy.ZERO1, [Act.STEP, Act.PUBLISH, Act.START]),
        (Strategy.ZERO2, [Act.STEP, Act.PUBLISH, Act.START]),
        (Strategy.ZERO3, [Act.STEP, Act.PUBLISH, Act.START]),
        (Strategy.FSDP, [Act.STEP, Act.START]),
    ],
)
def test_how_a_step_ends(strategy: Strategy, acts: list[Act]) -> None:
    """ZeRO-3 publishes the parameters that are too small to be cut."""
    found = step(strategy)
    assert [frame.act for frame in found.frames][-len(acts) :] == acts
    assert [frame.stepped for frame in found.frames].index(True) == len(found.frames) - len(acts)


def test_equal_microbatches_are_left_out_but_counted() -> None:
    found = step(Strategy.FSDP, "8b, 9 microbatches")
    assert sorted({frame.microbatch for frame in found.frames if frame.act is not Act.SKIP}) == [0, 1, 8]
    assert [(f.microbatch, f.act) for f in found.frames if f.act is Act.SKIP] == [(7, Act.SKIP)]
    one = step(Strategy.FSDP)
    assert found.frames[-1].sent == 9 * one.frames[-1].sent


def test_units_are_embedding_layers_and_head() -> None:
    found = step(Strategy.FSDP, "8b, pp 2")
    names = [unit.name for unit in found.units]
    assert names[0] == "embedding" if found.stage_rank == 0 else names[-1] == "head"
    assert len(names) == 17
    assert found.ranks == 8


def test_each_rank_keeps_its_share_of_a_units_gradients() -> None:
    found = step(Strategy.FSDP)
    layer = found.units[1]
    assert layer.kept == ceil_div(layer.trainable, 8) * 4


def test_refuses_a_stage_that_is_not_there() -> None:
    with pytest.raises(ValueRangeError, match="stage 2 is not in 0 <= stage < pp = 1"):
        played_step(scenario(Strategy.FSDP, **SHAPES["8b"]), 2)
