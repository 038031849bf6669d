"""What the ranks of a scenario hold: together the model, each element once but on replicas, to the byte."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod

import pytest

from scaletui_engine.catalog import load_gpu
from scaletui_engine.cluster import Cluster
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.errors import UnknownNameError, ValueRangeError
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.model import Arch, Model, Moe
from scaletui_engine.plan import Strategy
from scaletui_engine.runtime import Framework, Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.holders import holders
from scaletui_engine.sharding.names import Named, parameter, search, shown
from scaletui_engine.sharding.orders import Order
from scaletui_engine.sharding.parameter_view import parameter_view
from scaletui_engine.sharding.part import STATES, Part
from scaletui_engine.sharding.pipeline_place import held_row, stages_of
from scaletui_engine.sharding.rank_card import groups_of
from scaletui_engine.sharding.rank_view import rank_view
from scaletui_engine.sharding.runs import flat_runs
from scaletui_engine.sharding.tensor_map import Flat, tensor_map
from scaletui_engine.tensors import tensors

DENSE = Arch(layers=4, hidden=12, heads=4, kv_heads=2, head_dim=3, ffn=20, vocab=37)
EXPERTS = replace(DENSE, moe=Moe(experts=8, topk=2, ffn=6, shared=1, shared_ffn=8, first_dense=1))
TIED = replace(DENSE, tie=True)


def scenario(arch: Arch, gpus: int, **choices: object) -> Scenario:
    model = Model("tiny", "test", arch, None, "made for tests")
    cluster = Cluster(load_gpu("h100-sxm"), gpus)
    return Scenario(model, cluster, plan_from(PlanChoices(seq=16, **choices), model, cluster))  # type: ignore[arg-type]


PLANS = {
    "fsdp": {"strategy": Strategy.FSDP},
    "fsdp tp": {"strategy": Strategy.FSDP, "tp": 2},
    "fsdp tp4 over two kv heads": {"strategy": Strategy.FSDP, "tp": 4},
    "fsdp cp": {"strategy": Strategy.FSDP, "cp": 2},
    "fsdp pp": {"strategy": Strategy.FSDP, "pp": 2, "global_batch": 8},
    "hsdp": {"strategy": Strategy.HSDP, "dp_replicate": 2},
    "ddp tp": {"strategy": Strategy.DDP, "tp": 2},
    "zero1": {"strategy": Strategy.ZERO1},
    "zero2 pp": {"strategy": Strategy.ZERO2, "pp": 2},
    "zero3 tp": {"strategy": Strategy.ZERO3, "tp": 2},
    "fsdp1": {"strategy": Strategy.FSDP1},
}


@pytest.mark.parametrize("part", STATES)
@pytest.mark.parametrize("arch", [DENSE, EXPERTS, TIED], ids=["dense", "experts", "tied"])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
def test_ranks_hold_every_element_as_often_as_there_are_replicas(
    plan: dict[str, object], arch: Arch, part: Part
) -> None:
    world = scenario(arch, 8, **plan)
    held: Counter[tuple[str, int | None]] = Counter()
    for rank in range(8):
        for row in rank_view(world, rank, part).rows:
            for layer in row.layers or (None,):
                held[row.tensor.name, layer] += row.numel
    for tensor in tensors(arch):
        found = tensor_map(world, tensor, part)
        for layer in tensor.layers or (None,):
            stages = len(stages_of(world, Named(tensor, layer), part))
            ranks = stages * 8 // world.plan.axes.pp
            copies = ranks * found.layout.replicas // found.layout.mesh.world
            copies = copies if found.flat is Flat.NONE else copies // found.degree
            assert held[tensor.name, layer] == copies * prod(found.shape), (tensor.name, layer)


@pytest.mark.parametrize("arch", [DENSE, EXPERTS], ids=["dense", "experts"])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
def test_holders_are_the_ranks_whose_rows_have_the_element(plan: dict[str, object], arch: Arch) -> None:
    world = scenario(arch, 8, **plan)
    named = parameter(arch, "layers.2.attention.wk")
    for element in ((0, 0), (2, 11), (3, 5), (5, 11)):
        for part in STATES:
            answered = list(holders(world, named, element, part))
            assert answered == [rank for rank in range(8) if _has(world, rank, element, part)], (
                element,
                part,
            )
            assert holders(world, named, element, part).count == len(answered) > 0


def _has(world: Scenario, rank: int, element: tuple[int, ...], part: Part) -> bool:
    for row in rank_view(world, rank, part).rows:
        inside = all(
            any(start <= index < stop for start, stop in along)
            for index, along in zip(element, row.region, strict=False)
        )
        here = row.tensor.name.endswith("attention.wk") and 2 in (row.layers or ())
        if here and inside and (row.run is None or row.run[0] <= _position(row.region, element) < row.run[1]):
            return True
    return False


def _position(region: tuple[tuple[tuple[int, int], ...], ...], element: tuple[int, ...]) -> int:
    rows, columns = ([i for start, stop in along for i in range(start, stop)] for along in region)
    return rows.index(element[0]) * len(columns) + columns.index(element[1])


def test_fsdp_pads_a_vocabulary_of_37_rows_on_8_ranks() -> None:
    world = scenario(DENSE, 8)
    last = rank_view(world, 7).rows[0]
    assert (last.tensor.name, last.region[0], last.numel, last.allocated) == (
        "tok_embeddings",
        ((35, 37),),
        24,
        60,
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tok_embeddings", "tok_embeddings"),
        ("layers.3.attention.wq", "layers.3.attention.wq"),
        ("layers.*.attention.wq", "layers.[0-3].attention.wq"),
        ("layers.2.experts.5.w1", "layers.2.experts.5.w1"),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert shown(parameter(EXPERTS, name)) == expected


def test_search_finds_the_words_in_a_layer() -> None:
    found = [shown(named) for named in search(tensors(DENSE), "layers.3.mlp")]
    assert found == [f"layers.3.feed_forward.{name}" for name in ("w1", "w3", "w2")]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("layers.3.attention.wk2", UnknownNameError, "did you mean 'layers.{layer}.attention.wk'"),
        ("layers.4.attention.wk", ValueRangeError, r"layers \[0-3\], not 4"),
        ("layers.2.experts.8.w1", ValueRangeError, "experts 0 to 7, not 8"),
        ("layers.0.experts.1.w1", ValueRangeError, r"layers \[1-3\], not 0"),
    ],
)
def test_names_that_are_not_there(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        parameter(EXPERTS, name)


def test_a_rank_outside_the_world() -> None:
    with pytest.raises(ValueRangeError, match="rank 8 is not in 0 <= rank < world = 8"):
        rank_view(scenario(DENSE, 8), 8)


@pytest.mark.parametrize("order", list(Order))
def test_groups_of_experts_and_second_copies_under_every_numbering(order: Order) -> None:
    """Every rank is in one group, which its own number finds, and crossings are those of the list."""
    worlds = [
        scenario(EXPERTS, 16, ep=4, pp=2, tp=2, global_batch=4),
        scenario(DENSE, 8, strategy=Strategy.ZERO3, runtime=Runtime(zero_hpz=4)),
    ]
    for world in worlds:
        named = dict(groups_of(world, order))
        for name in {"ep", "edp", "hpz"} & set(named):
            groups = named[name]
            every = list(groups)
            assert sorted(rank for group in every for rank in group) == list(range(world.plan.axes.world))
            assert len(every) == groups.count
            assert all(groups.of(rank) == group for group in every for rank in group)
            for block in (2, 4, 8):
                assert groups.crossing(block) == sum(len({r // block for r in group}) > 1 for group in every)
                assert [groups.crosses(group[0], block) for group in every] == [
                    len({rank // block for rank in group}) > 1 for group in every
                ]


@pytest.mark.parametrize("ep", [1, 2])
@pytest.mark.parametrize("arch", [DENSE, EXPERTS], ids=["dense", "experts"])
@pytest.mark.parametrize("strategy", [Strategy.ZERO1, Strategy.ZERO2, Strategy.FSDP1])
def test_holders_among_many_places_are_those_of_the_rows(strategy: Strategy, arch: Arch, ep: int) -> None:
    """64 places: runs are found from a few of them."""
    world = scenario(arch, 64, strategy=strategy, ep=1 if arch is DENSE else ep)
    named = parameter(arch, "layers.2.attention.wk")
    for element in ((0, 0), (3, 5), (5, 11)):
        answered = list(holders(world, named, element, Part.OPTIMIZER))
        assert answered == [rank for rank in range(64) if _has(world, rank, element, Part.OPTIMIZER)]


@pytest.mark.parametrize("strategy", [Strategy.ZERO1, Strategy.ZERO2, Strategy.FSDP1])
@pytest.mark.parametrize("name", ["tok_embeddings", "norm", "output", "layers.0.attention.wq"])
def test_runs_beside_a_large_vocabulary(strategy: Strategy, name: str) -> None:
    """The tables fill most of 64 places; what lies between them is found from a few all the same."""
    arch = replace(DENSE, vocab=4096)
    world, named = scenario(arch, 64, strategy=strategy), parameter(arch, name)
    found = tensor_map(world, named.tensor, Part.OPTIMIZER)
    rows = [(place, held_row(world, named, place * found.lane, Part.OPTIMIZER)) for place in range(64)]
    runs = {(*row.run, place) for place, row in rows if row is not None and row.run is not None}
    assert set(flat_runs(world, named, Part.OPTIMIZER)) == runs
    assert sum(stop - start for start, stop, _ in runs) == found.whole_numel


UNEVEN = Arch(layers=2, hidden=16, heads=8, kv_heads=2, head_dim=4, ffn=32, vocab=64)
"""Two key heads: on four ranks a rank stores 12 of the 48 fused rows."""


FUSED = [Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP, Strategy.FSDP1]


@pytest.mark.parametrize("part", STATES)
@pytest.mark.parametrize("strategy", FUSED)
@pytest.mark.parametrize("gpus", [4, 8, 16, 256])
def test_fused_rows_are_held_once_under_megatron(strategy: Strategy, part: Part, gpus: int) -> None:
    """No head is copied: tp cuts the 48 fused rows evenly, and the data ranks what it leaves."""
    world = scenario(UNEVEN, gpus, strategy=strategy, tp=4, runtime=Runtime(framework=Framework.MEGATRON))
    held = Counter[str]()
    for rank in range(gpus):
        for row in rank_view(world, rank, part).rows:
            held[row.tensor.name.rpartition(".")[2]] += row.numel * row.copies
    whole = (part is Part.WEIGHTS and not strategy.shards_weights) or (
        part is Part.GRADIENTS and not strategy.shards_gradients
    )
    copies = gpus // 4 if whole else 1
    for name, rows in (("wq", 32), ("wk", 8), ("wv", 8)):
        assert held[name] == copies * UNEVEN.layers * rows * UNEVEN.hidden


@pytest.mark.parametrize("strategy", [Strategy.ZERO3, Strategy.FSDP, Strategy.HSDP, Strategy.FSDP1])
@pytest.mark.parametrize("arch", [UNEVEN, DENSE], ids=["uneven", "dense"])
def test_the_memory_engine_copies_no_head_under_megatron(strategy: Strategy, arch: Arch) -> None:
    """Of all ranks together: one of them may hold a row more of keys and one less of values."""
    axes = {"dp_replicate": 2} if strategy is Strategy.HSDP else {}
    runtime = Runtime(framework=Framework.MEGATRON)
    world = scenario(arch, 16, strategy=strategy, tp=4, runtime=runtime, **axes)
    load = load_of(arch, world.plan)
    counted = contents_of(load)[0].states.weights // load.precision.weights
    held = sum(rank_view(world, rank).allocated for rank in range(16))
    assert abs(16 * counted - held) <= 16 * 2 * arch.hidden * arch.layers


@pytest.mark.parametrize("strategy", FUSED)
@pytest.mark.parametrize("name", ["wq", "wk", "wv"])
@pytest.mark.parametrize("gpus", [8, 256])
def test_holders_of_fused_rows_are_the_ranks_whose_rows_have_them(
    strategy: Strategy, name: str, gpus: int
) -> None:
    world = scenario(UNEVEN, gpus, strategy=strategy, tp=4, runtime=Runtime(framework=Framework.MEGATRON))
    named = parameter(UNEVEN, f"layers.1.attention.{name}")
    assert all(parameter_view(world, f"layers.1.attention.{name}").agrees(rank) for rank in range(gpus))
    for element in ((0, 0), (3, 15), (4, 0), (7, 15)):
        having = [
            rank
            for rank in range(gpus)
            for row in rank_view(world, rank, Part.OPTIMIZER).rows
            if row.tensor.name.endswith(name) and 1 in (row.layers or ())
            if any(start <= element[0] < stop for start, stop in row.region[0])
            and (row.run is None or row.run[0] <= _position(row.region, element) < row.run[1])
        ]
        assert list(holders(world, named, element, Part.OPTIMIZER)) == having
        assert len(having) == 1


@pytest.mark.parametrize("framework", [Framework.MEGATRON, Framework.DEEPSPEED])
@pytest.mark.parametrize("strategy", [Strategy.ZERO1, Strategy.ZERO2])
@pytest.mark.parametrize("arch", [DENSE, EXPERTS, TIED, UNEVEN], ids=["dense", "experts", "tied", "uneven"])
@pytest.mark.parametrize(
    "axes", [{}, {"tp": 4}, {"tp": 2, "pp": 2, "global_batch": 8}, {"tp": 4, "ep": 2}], ids=str
)
def test_the_memory_engine_counts_the_same_buffers(
    framework: Framework, strategy: Strategy, arch: Arch, axes: dict[str, object]
) -> None:
    """Megatron pads starts to 64 and the end to 128, DeepSpeed the end to 2 elements a rank."""
    axes = axes if arch is EXPERTS else {name: size for name, size in axes.items() if name != "ep"}
    world = scenario(arch, 8, strategy=strategy, runtime=Runtime(framework=framework), **axes)
    recipe = load_of(arch, world.plan).precision
    for stage, budget in enumerate(evaluate(world).stages):
        rank = stage * 8 // world.plan.axes.pp
        held = rank_view(world, rank, Part.OPTIMIZER).allocated
        parts = budget.parts
        assert parts.optimizer + parts.master_weights == held * (recipe.master + sum(recipe.moments))
        assert parts.weights == rank_view(world, rank).numel * recipe.weights


@pytest.mark.parametrize("part", STATES)
@pytest.mark.parametrize("precision", ["bf16-mixed", "fp32"])
@pytest.mark.parametrize("arch", [DENSE, EXPERTS, TIED, UNEVEN], ids=["dense", "experts", "tied", "uneven"])
@pytest.mark.parametrize("axes", [{}, {"pp": 2}, {"ep": 2}, {"ep": 8}, {"tp": 2, "ep": 2}], ids=str)
def test_the_memory_engine_counts_the_same_flat_parameters(
    part: Part, precision: str, arch: Arch, axes: dict[str, int]
) -> None:
    """FSDP1 aligns starts to 16 bytes: four elements of fp32, eight of bf16."""
    axes = axes if arch is EXPERTS else {name: size for name, size in axes.items() if name != "ep"}
    world = scenario(arch, 8, strategy=Strategy.FSDP1, precision=precision, global_batch=32, **axes)
    recipe = load_of(arch, world.plan).precision
    item = {
        Part.WEIGHTS: recipe.weights,
        Part.GRADIENTS: recipe.gradients,
        Part.OPTIMIZER: recipe.master + sum(recipe.moments),
    }[part]
    for stage, contents in enumerate(contents_of(load_of(arch, world.plan))):
        held = contents.states
        bytes_held = {
            Part.WEIGHTS: held.weights,
            Part.GRADIENTS: held.gradients,
            Part.OPTIMIZER: held.optimizer + held.master_weights,
        }[part]
        assert bytes_held == rank_view(world, stage * 8 // axes.get("pp", 1), part).allocated * item


@pytest.mark.parametrize("part", STATES)
@pytest.mark.parametrize("arch", [DENSE, EXPERTS, TIED], ids=["dense", "experts", "tied"])
@pytest.mark.parametrize("axes", [{}, {"tp": 2}, {"cp": 2}], ids=str)
def test_the_memory_engine_counts_the_same_slices_of_zero3(
    part: Part, arch: Arch, axes: dict[str, object]
) -> None:
    """Small parameters are cut like the others: what stays whole is a copy beside the slice."""
    world = scenario(arch, 8, strategy=Strategy.ZERO3, **axes)
    load = load_of(arch, world.plan)
    recipe, held = load.precision, contents_of(load)[0].states
    item, bytes_held = {
        Part.WEIGHTS: (recipe.weights, held.weights),
        Part.GRADIENTS: (recipe.gradients, held.gradients),
        Part.OPTIMIZER: (recipe.master + sum(recipe.moments), held.optimizer + held.master_weights),
    }[part]
    assert bytes_held == rank_view(world, 0, part).allocated * item


@pytest.mark.parametrize(
    ("strategy", "part", "stays"),
    [
        (Strategy.ZERO3, Part.WEIGHTS, ["norm", "layers.0.attention.wk"]),
        (Strategy.ZERO3, Part.OPTIMIZER, []),
        (Strategy.FSDP, Part.WEIGHTS, []),
    ],
)
def test_zero3_leaves_a_whole_copy_of_small_weights(strategy: Strategy, part: Part, stays: list[str]) -> None:
    """DeepSpeed keeps a slice (`ds_tensor`) of what it keeps whole, and gathers that anew after the step."""
    arch = replace(DENSE, hidden=600, head_dim=80, ffn=1000)
    world = scenario(arch, 8, strategy=strategy)
    names = ("norm", "layers.0.attention.wk", "layers.0.feed_forward.w1")
    views = {name: parameter_view(world, name, part) for name in names}
    assert [name for name, view in views.items() if view.map.stays] == stays
    assert views["norm"].piece(7).numel == 600 // 8


@pytest.mark.parametrize(
    ("framework", "strategy", "whole"),
    [
        (Framework.MEGATRON, Strategy.ZERO1, [Part.WEIGHTS, Part.GRADIENTS]),
        (Framework.MEGATRON, Strategy.ZERO2, [Part.WEIGHTS]),
        (Framework.DEEPSPEED, Strategy.ZERO1, [Part.WEIGHTS]),
        (Framework.DEEPSPEED, Strategy.ZERO2, [Part.WEIGHTS]),
        (Framework.TORCH, Strategy.ZERO1, []),
    ],
)
@pytest.mark.parametrize("arch", [DENSE, EXPERTS, UNEVEN], ids=["dense", "experts", "uneven"])
def test_whole_weights_lie_in_the_padded_buffer(
    framework: Framework, strategy: Strategy, whole: list[Part], arch: Arch
) -> None:
    """What all partitions of the optimizer add up to: parameters are views of that buffer."""
    world = scenario(arch, 8, strategy=strategy, tp=4, runtime=Runtime(framework=framework))
    partitions = [rank_view(world, rank, Part.OPTIMIZER).allocated for rank in (0, 4)]
    for part in (Part.WEIGHTS, Part.GRADIENTS):
        view = rank_view(world, 0, part)
        if part in whole:
            assert view.allocated == sum(partitions)
        elif part is Part.WEIGHTS or not strategy.shards_gradients:
            assert view.allocated == view.numel


@pytest.mark.parametrize(("gpus", "ep"), [(8, 1), (12, 1), (24, 1), (12, 2), (24, 4), (24, 8)])
@pytest.mark.parametrize("strategy", [Strategy.FSDP, Strategy.HSDP])
def test_the_memory_engine_pads_stacked_experts_as_fsdp2_does(gpus: int, ep: int, strategy: Strategy) -> None:
    """8 experts on 12 ranks are cut along their rows, 4 on 6 too, 8 on 8 by expert."""
    world = scenario(EXPERTS, gpus, ep=ep, strategy=strategy, dp_shard=gpus, dp_replicate=1)
    load = load_of(EXPERTS, world.plan)
    assert contents_of(load)[0].states.weights == rank_view(world, 0).allocated * load.precision.weights
