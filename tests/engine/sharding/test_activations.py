"""Activations and gradients before their sum: who holds which piece, and who has a term."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from math import prod

import pytest

from scaletui_engine.catalog import load_gpu
from scaletui_engine.cluster import Cluster
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.errors import ScenarioError, UnknownNameError
from scaletui_engine.memory import evaluate
from scaletui_engine.memory.load import load_of
from scaletui_engine.model import Arch, Model, Moe
from scaletui_engine.plan import Axes, Strategy
from scaletui_engine.runtime import Framework, Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.activations import activations
from scaletui_engine.sharding.context import head_tail
from scaletui_engine.sharding.fused_qkv import qkv_work
from scaletui_engine.sharding.holders import holders
from scaletui_engine.sharding.layout import Layout
from scaletui_engine.sharding.mesh import Axis, Mesh
from scaletui_engine.sharding.names import parameter
from scaletui_engine.sharding.parameter_view import ParameterView, parameter_view
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.placement import head_tail as cut_head_tail
from scaletui_engine.sharding.rank_view import rank_view
from scaletui_engine.sharding.zero import PERSISTENT
from scaletui_engine.tensors import tensors

DENSE = Arch(layers=4, hidden=8, heads=4, kv_heads=2, head_dim=2, ffn=12, vocab=16)
EXPERTS = Arch(
    layers=4, hidden=8, heads=4, kv_heads=2, head_dim=2, ffn=12, vocab=16,
    moe=Moe(experts=4, topk=2, ffn=6, first_dense=1),
)  # fmt: skip
LAYER = "layers.{layer}"


def scenario(gpus: int, arch: Arch = DENSE, **choices: object) -> Scenario:
    model, cluster = Model("tiny", "test", arch, None, "made for tests"), Cluster(load_gpu("h100-sxm"), gpus)
    given: dict[str, object] = {"seq": 16, **choices}
    return Scenario(model, cluster, plan_from(PlanChoices(**given), model, cluster))  # type: ignore[arg-type]


def placements(view: ParameterView) -> str:
    layout = view.map.layout
    return " ".join(
        f"{axis.name}:{how}" for axis, how in zip(layout.mesh.axes, layout.placements, strict=True)
    )


@pytest.mark.parametrize(
    ("name", "sequence", "expected"),
    [
        (f"{LAYER}.input", True, "dp_shard:S(0) cp:HT(1) tp:S(1)"),
        (f"{LAYER}.input", False, "dp_shard:S(0) cp:HT(1) tp:R"),
        (f"{LAYER}.attention.input", True, "dp_shard:S(0) cp:HT(1) tp:R"),
        (f"{LAYER}.attention.q", True, "dp_shard:S(0) cp:HT(1) tp:S(2)"),
        (f"{LAYER}.attention.terms", True, "dp_shard:S(0) cp:HT(1) tp:P"),
        (f"{LAYER}.attention.output", True, "dp_shard:S(0) cp:HT(1) tp:S(1)"),
        (f"{LAYER}.feed_forward.inner", False, "dp_shard:S(0) cp:HT(1) tp:S(2)"),
        (f"{LAYER}.feed_forward.terms", False, "dp_shard:S(0) cp:HT(1) tp:P"),
        ("tok_embeddings.terms", True, "dp_shard:S(0) cp:HT(1) tp:P"),
        ("logits", True, "dp_shard:S(0) cp:HT(1) tp:S(2)"),
    ],
)
def test_what_parallelisms_do_to_activations(name: str, sequence: bool, expected: str) -> None:
    world = scenario(8, tp=2, cp=2, sequence_parallel=sequence)
    assert placements(parameter_view(world, name, Part.ACTIVATIONS)) == expected


@pytest.mark.parametrize(
    "plan", [{"tp": 2, "cp": 2}, {"tp": 4}, {"cp": 4}, {"tp": 2, "pp": 2, "global_batch": 4}, {}], ids=str
)
@pytest.mark.parametrize("arch", [DENSE, EXPERTS], ids=["dense", "experts"])
def test_pieces_make_up_every_activation(plan: dict[str, object], arch: Arch) -> None:
    world = scenario(8, arch, **plan)
    for tensor in activations(world):
        view = parameter_view(world, tensor.name, Part.ACTIVATIONS)
        held: Counter[tuple[int, ...]] = Counter()
        for rank in range(view.stages[0] * view.stage_size, (view.stages[0] + 1) * view.stage_size):
            held.update(
                product(*([i for a, b in along for i in range(a, b)] for along in view.piece(rank).region))
            )
        assert len(held) == prod(view.map.shape), tensor.name
        assert set(held.values()) == {view.map.layout.replicas * view.map.layout.partials}


def test_a_pipeline_stage_has_its_own_layers() -> None:
    world = scenario(8, pp=4, global_batch=8)
    stages = [
        {row.tensor.name: row.layers for row in rank_view(world, 2 * stage, Part.ACTIVATIONS).rows}
        for stage in range(4)
    ]
    assert ["tok_embeddings.output" in held for held in stages] == [True, False, False, False]
    assert ["logits" in held for held in stages] == [False, False, False, True]
    assert [held[f"{LAYER}.input"] for held in stages] == [range(layer, layer + 1) for layer in range(4)]


@pytest.mark.parametrize(("seq", "cp"), [(16, 4), (8, 2), (12, 3), (4, 1)])
def test_the_cut_is_that_of_context_parallelism(seq: int, cp: int) -> None:
    layout, split = Layout((seq,), Mesh((Axis("cp", cp),)), (cut_head_tail(0),)), head_tail(seq, cp)
    for rank in range(cp):
        assert layout.slices(rank)[0] == split.tokens(rank)
        for start, stop in split.tokens(rank):
            assert all(rank in layout.holders((token,)) for token in range(start, stop))


@pytest.mark.parametrize(
    ("strategy", "name", "terms"),
    [
        (Strategy.FSDP, f"{LAYER}.attention.wq", 4),
        (Strategy.DDP, f"{LAYER}.attention.wq", 4),
        (Strategy.FSDP, f"{LAYER}.attention_norm", 8),
    ],
    ids=["a cut matrix", "ddp", "a norm that saw half the sequence"],
)
def test_gradients_are_terms_until_they_are_reduced(strategy: Strategy, name: str, terms: int) -> None:
    view = parameter_view(scenario(8, tp=2, strategy=strategy), name, Part.UNREDUCED)
    assert (view.map.layout.partials, view.map.layout.replicas) == (terms, 1)


def test_second_copies_lie_inside_their_groups() -> None:
    """ZeRO++: 8 ranks, groups of 4; a group has the parameter once, and small ones stay whole."""
    arch = Arch(layers=1, hidden=512, heads=4, kv_heads=4, head_dim=128, ffn=512, vocab=512)
    world = scenario(8, arch, strategy=Strategy.ZERO3, runtime=Runtime(zero_hpz=4))
    view = parameter_view(world, "layers.0.attention.wq", Part.SECONDARY)
    runs = [view.piece(rank).run for rank in range(8)]
    assert runs[:4] == runs[4:] == [(part * 65536, (part + 1) * 65536) for part in range(4)]
    held = holders(world, parameter(arch, "layers.0.attention.wq"), (200, 0), Part.SECONDARY)
    assert (list(held), held.count) == ([1, 5], 2)
    norm = parameter_view(world, "norm", Part.SECONDARY)
    assert {norm.piece(rank).numel for rank in range(8)} == {512}


@pytest.mark.parametrize("group", [2, 4, 8])
def test_the_memory_engine_counts_what_the_map_shows_of_second_copies(group: int) -> None:
    arch = Arch(layers=3, hidden=512, heads=4, kv_heads=4, head_dim=128, ffn=768, vocab=1024)
    world, plain = (
        scenario(8, arch, strategy=Strategy.ZERO3, runtime=Runtime(zero_hpz=each)) for each in (group, 1)
    )
    view = rank_view(world, 0, Part.SECONDARY)
    item = load_of(arch, world.plan).precision.weights
    after, before = (evaluate(each).stages[0].parts.weights for each in (world, plain))
    large = [tensor for tensor in tensors(arch) if tensor.numel > PERSISTENT]
    assert view.numel == sum(tensor.total for tensor in large) // group
    assert after - before == view.allocated * item


def test_a_second_copy_is_padded_as_the_first() -> None:
    """361 x 361 elements on 8 ranks: padded to 8 x 16,291, of which each of two ranks holds half."""
    arch = Arch(layers=1, hidden=361, heads=1, kv_heads=1, head_dim=361, ffn=512, vocab=512)
    world = scenario(8, arch, strategy=Strategy.ZERO3, runtime=Runtime(zero_hpz=2))
    view = parameter_view(world, "layers.0.attention.wq", Part.SECONDARY)
    assert [view.piece(rank).run for rank in (0, 1)] == [(0, 65164), (65164, 130321)]
    assert {view.piece(rank).allocated for rank in range(8)} == {65164}


def test_a_second_copy_that_the_plan_has_not() -> None:
    with pytest.raises(ScenarioError, match="zero_hpz = 1: there is no second copy"):
        parameter_view(scenario(8, strategy=Strategy.ZERO3), "norm", Part.SECONDARY)


def test_an_activation_that_is_not_there() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown activation 'layers\.0\.attention\.qq', did you mean"
    ):
        parameter_view(scenario(8), "layers.0.attention.qq", Part.ACTIVATIONS)


def test_owner_and_worker_of_fused_rows() -> None:
    plan = {"tp": 4, "strategy": Strategy.DDP, "runtime": Runtime(framework=Framework.MEGATRON)}
    world = scenario(4, Arch(layers=1, hidden=8, heads=8, kv_heads=2, head_dim=4, ffn=12, vocab=16), **plan)
    found = qkv_work(world, "layers.0.attention.wk", 0)
    assert found is not None
    assert [each.head for each in found[0]] == ["q0", "q1", "q2"]
    assert (found[1].queries, found[1].groups) == ((0, 1), (0,))
    cut = replace(world, plan=replace(world.plan, strategy=Strategy.FSDP, axes=Axes(tp=4, dp_shard=2)))
    halves = [qkv_work(cut, "layers.0.attention.wk", rank) for rank in (0, 4)]
    assert [[(each.head, each.rows) for each in half[0]] for half in halves if half] == [
        [("q0", (0, 4)), ("q1", (0, 2))], [("q1", (2, 4)), ("q2", (0, 4))],
    ]  # fmt: skip
    assert qkv_work(world, "layers.0.attention.wo", 0) is None
    assert qkv_work(scenario(4, tp=4), "layers.0.attention.wk", 0) is None


def test_holders_of_a_layered_parameter_are_those_of_one_layer() -> None:
    """Ranks of other pipeline stages hold other layers."""
    world = scenario(8, pp=2, tp=2, global_batch=8)
    named = parameter(DENSE, "layers.*.attention.wq")
    assert list(holders(world, named, (0, 0))) == list(
        holders(world, parameter(DENSE, "layers.0.attention.wq"), (0, 0))
    )
    assert {rank // 4 for rank in holders(world, parameter(DENSE, "layers.3.attention.wq"), (0, 0))} == {1}
