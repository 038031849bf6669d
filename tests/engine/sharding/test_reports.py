"""Reports that people filed about sharding, one test each, named after where they stand."""

from __future__ import annotations

from math import prod

import pytest

from scaletui_engine.catalog import load_gpu, load_model
from scaletui_engine.cluster import Cluster
from scaletui_engine.collectives import bandwidth
from scaletui_engine.collectives.wire import nvls_factor
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.errors import DivisibilityError
from scaletui_engine.model import Arch, Model
from scaletui_engine.plan import Axes, Split, Strategy
from scaletui_engine.runtime import Framework, Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.context import head_tail
from scaletui_engine.sharding.experts import experts_of
from scaletui_engine.sharding.fsdp1 import flat_parameter
from scaletui_engine.sharding.fsdp2 import Fsdp2, fsdp2_param
from scaletui_engine.sharding.layout import Layout
from scaletui_engine.sharding.megatron_tp import check_kv_whole, fused_qkv
from scaletui_engine.sharding.mesh import Axis, Mesh
from scaletui_engine.sharding.orders import MEGATRON_ORDER, expert_mesh_in_order, mesh_in_order
from scaletui_engine.sharding.parameter_view import parameter_view
from scaletui_engine.sharding.pipeline_split import MegatronSplit
from scaletui_engine.sharding.placement import lengths, shard
from scaletui_engine.sharding.rank_card import groups_of, mesh_card
from scaletui_engine.sharding.traffic.call import total_sent
from scaletui_engine.sharding.traffic.data_volume import Volume, deepspeed_zero, zero1
from scaletui_engine.sharding.traffic.table import traffic

TINY = Arch(layers=2, hidden=16, heads=4, kv_heads=2, head_dim=4, ffn=32, vocab=64)


def scenario(gpus: int, arch: Arch = TINY, gpu: str = "h100-sxm", **choices: object) -> Scenario:
    model, cluster = Model("tiny", "test", arch, None, "made for tests"), Cluster(load_gpu(gpu), gpus)
    given: dict[str, object] = {"seq": 32, **choices}
    return Scenario(model, cluster, plan_from(PlanChoices(**given), model, cluster))  # type: ignore[arg-type]


def one_dim(length: int, sizes: tuple[int, ...], cuts: int = 1) -> Layout:
    mesh = Mesh(tuple(Axis(f"a{index}", size) for index, size in enumerate(sizes)))
    return Layout((length,), mesh, (shard(0),) * cuts)


def rows(layout: Layout, rank: int) -> list[int]:
    return [index for start, stop in layout.slices(rank)[0] for index in range(start, stop)]


def test_pytorch_161368_two_cuts_are_not_one() -> None:
    """Size 2 over (2, 4), cut twice: ranks 0 and 4; over a flat 8: ranks 0 and 1."""
    twice, once = one_dim(2, (2, 4), 2), one_dim(2, (8,))
    assert [rank for rank in range(8) if twice.numel(rank)] == [0, 4]
    assert [rank for rank in range(8) if once.numel(rank)] == [0, 1]
    assert {twice.offset(rank) for rank in (1, 2, 3, 5, 6, 7)} == {(2,)}


def test_pytorch_168134_and_torchtitan_4593_metadata_is_not_the_data() -> None:
    param = fsdp2_param((7,), Fsdp2(3, tp=2, tp_dim=0))
    assert [rank for rank in range(6) if not param.agrees(rank)] == [4, 5]
    assert (rows(param.real, 4), rows(param.real, 5)) == ([], [6])
    assert (rows(param.declared, 4), rows(param.declared, 5)) == ([6], [])


@pytest.mark.parametrize(("length", "ranks"), [(5, 4), (3, 8), (512, 30)])
def test_pytorch_150862_empty_shards_begin_at_the_end(length: int, ranks: int) -> None:
    layout = one_dim(length, (ranks,))
    assert {layout.offset(rank)[0] for rank in layout.empty()} == {length}
    held = [index for rank in range(ranks) for index in rows(layout, rank)]
    assert held == list(range(length))


def test_pytorch_188947_floor_division_would_overlap() -> None:
    layout = one_dim(7, (3,))
    assert [layout.offset(rank)[0] for rank in range(3)] == [0, 3, 6]
    assert [layout.numel(rank) for rank in range(3)] == [3, 3, 1]


def test_pytorch_144109_given_columns_stay_as_they_are() -> None:
    layout = Layout((1, 14), Mesh((Axis("a", 4),)), (lengths(1, (2, 3, 4, 5)),))
    assert [layout.slices(rank)[1] for rank in range(4)] == [((0, 2),), ((2, 5),), ((5, 9),), ((9, 14),)]


def test_pytorch_154888_and_verl_7494_replicas_are_reduced_without_shards() -> None:
    found = traffic(scenario(8, strategy=Strategy.HSDP, dp_replicate=8, dp_shard=1))
    kinds = {(row.group, row.call.op.value) for row in found.implemented if "grad" in row.call.what}
    assert ("dp_replicate", "all-reduce") in kinds
    assert not [row for row in found.implemented if row.group == "fsdp"]


def test_pytorch_99779_ranks_hold_different_parameters() -> None:
    flat = flat_parameter((15, 5, 35, 7), 4, 4)
    assert [[part.param for part in flat.parts(rank)] for rank in range(4)] == [[0, 1], [1, 2], [2], [2, 3]]


def test_dion_83_eighteen_rows_leave_two_of_eight_ranks_empty() -> None:
    layout = Layout((18, 4), Mesh((Axis("a", 8),)), (shard(0),))
    assert list(layout.empty()) == [6, 7]


def test_torchtitan_1369_twelve_collectives_of_one_layer() -> None:
    """TP 2 with SP and a parallel loss: 6 + 6 of the sequence's size, 8 x 2048 x 256 / 2 elements each."""
    arch = Arch(layers=1, hidden=256, heads=4, kv_heads=4, head_dim=64, ffn=512, vocab=512)
    world = scenario(2, arch, tp=2, strategy=Strategy.DDP, seq=2048, micro_batch=8)
    wanted = {"layers", "embedding", "head"}
    found = [row.call for row in traffic(world).implemented if row.call.what in wanted]
    counted = {
        op: sum(call.count for call in found if call.op.value == op)
        for op in ("all-gather", "reduce-scatter")
    }
    assert counted == {"all-gather": 6, "reduce-scatter": 6}
    assert {call.payload // 2 // call.ranks for call in found} == {2_097_152}


def test_deepspeed_5758_7059_6463_reduce_scatter_still_all_reduces() -> None:
    volume = Volume(7_000_000_000, 2, 2, 8)
    assert (total_sent(zero1(volume)), total_sent(deepspeed_zero(volume, 1))) == (
        24_500_000_000,
        36_750_000_000,
    )


def test_deepspeed_2252_stage_2_reduces_four_times() -> None:
    counts = [
        next(row.call.count for row in found.implemented if row.call.what == "gradients")
        for strategy in (Strategy.ZERO1, Strategy.ZERO2)
        for found in (traffic(scenario(8, strategy=strategy, global_batch=32)),)
    ]
    assert counts == [1, 4]


def test_megatron_1304_no_layer_is_lost() -> None:
    with pytest.raises(DivisibilityError, match=r"30 layers = 30, 30 % pp 4 = 2: not divisible"):
        MegatronSplit(30, 4).stages()
    stages = MegatronSplit(30, 4, first=6).stages()
    assert sum(len(layers) for rank in stages for layers in rank) == 30


def test_megatron_1584_chunks_behind_a_short_last_stage() -> None:
    stages = MegatronSplit(28, 4, vp=2, last=4).stages()
    assert [[list(chunk) for chunk in rank] for rank in stages][1] == [[4, 5, 6, 7], [18, 19, 20, 21]]
    assert [list(chunk) for chunk in stages[3]] == [[12, 13], [26, 27]]


def test_megatron_5958_dp_rank_is_not_cp_rank() -> None:
    """World 32, cp 16, dp 2: rank 17 is cp 1 of dp 1."""
    mesh = mesh_in_order(MEGATRON_ORDER, {"cp": 16, "dp": 2})
    places = dict(zip(mesh.names, mesh.coordinate(17), strict=True))
    assert (places["cp"], places["dp"], places["tp"], places["pp"]) == (1, 1, 0, 0)


def test_megatron_1459_experts_fold_over_tp_and_dp() -> None:
    """World 16, tp 2, pp 2, dp 4, ep 4, etp 1: the ranks of a stage in groups of 4, two replicas of each."""
    mesh = expert_mesh_in_order(MEGATRON_ORDER, {"tp": 2, "pp": 2, "dp": 4, "ep": 4, "etp": 1})
    assert [list(group) for group in mesh.groups("ep")] == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15],
    ]  # fmt: skip
    assert next(iter(mesh.groups("dp"))) == (0, 4)


def test_megatron_4261_and_5754_an_order_reaches_every_group() -> None:
    mesh = mesh_in_order("tp-cp-ep-pp-dp", {"tp": 2, "pp": 2, "dp": 2})
    assert [list(group) for group in mesh.groups("dp")] == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_transformers_48307_and_swift_8219_fewer_key_heads_than_ranks() -> None:
    """A rank may store no row of the keys that it computes with."""
    fused = fused_qkv(8, 2, 4, 4)
    assert [[each.head for each in fused.stored(rank)] for rank in range(4)] == [
        ["q0", "q1", "q2"], ["q3", "k0", "v0"], ["q4", "q5", "q6"], ["q7", "k1", "v1"],
    ]  # fmt: skip
    assert [fused.computes(rank).groups for rank in range(4)] == [(0,), (0,), (1,), (1,)]


def test_torchtitan_2577_refuses_to_copy_heads() -> None:
    with pytest.raises(DivisibilityError, match=r"n_kv_heads 2 / tp 8 = 0.25, not whole"):
        check_kv_whole(2, 8)


def test_modelexpress_650_stored_rows_in_the_map_of_a_scenario() -> None:
    arch = Arch(layers=2, hidden=16, heads=8, kv_heads=2, head_dim=4, ffn=32, vocab=64)
    plan = {"tp": 4, "strategy": Strategy.DDP, "runtime": Runtime(framework=Framework.MEGATRON)}
    world = scenario(4, arch, **plan)
    held = {
        name: [parameter_view(world, f"layers.0.attention.{name}").piece(rank).region[0] for rank in range(4)]
        for name in ("wq", "wk", "wv")
    }
    assert held["wq"] == [((0, 12),), ((12, 16),), ((16, 28),), ((28, 32),)]
    assert held["wk"] == held["wv"] == [(), ((0, 4),), (), ((4, 8),)]
    gathers = [row.call for row in traffic(world).implemented if row.call.what == "qkv"]
    assert [(call.op.value, call.count) for call in gathers] == [("all-gather", arch.layers)]


def test_megatron_bridge_5077_the_heaviest_stage_not_the_mean() -> None:
    model, cluster = load_model("llama3.1-405b"), Cluster(load_gpu("h100-sxm"), 16384)
    plan = PlanChoices(tp=8, pp=16, layer_split=Split.ENDS, seq=8192, global_batch=2048)
    assert traffic(Scenario(model, cluster, plan_from(plan, model, cluster))).stage_rank == 1


def test_nccl_tests_239_153_181_130_more_than_the_line_rate() -> None:
    assert float(nvls_factor(8)) == 1.125
    assert bandwidth.nvls_bus_bandwidth(450, 8) == pytest.approx(700)
    assert [float(bandwidth.all_to_all_over_nic(nodes)) for nodes in (2, 4, 8)] == pytest.approx(
        [2, 4 / 3, 8 / 7]
    )


def test_nemo_rl_2986_and_deepep_596_a_domain_is_not_a_node() -> None:
    """GB200: expert groups of 8 leave nodes of 4 and stay in domains of 72; one of 16 leaves its domain."""
    axes = Axes(dp_shard=144)
    for ep, leaving in ((8, 0), (16, 1)):
        groups = Mesh((Axis("edp", axes.world // ep), Axis("ep", ep))).groups("ep")
        assert (groups.crossing(4), groups.crossing(72)) == (groups.count, leaving)
    arch = load_model("mixtral-8x7b").arch
    cluster = Cluster(load_gpu("gb200"), 144, gpus_per_node=4)
    model = Model("tiny", "test", arch, None, "made for tests")
    plan = plan_from(PlanChoices(ep=8, seq=32), model, cluster)
    card = mesh_card(Scenario(model, cluster, plan), 0)
    ep_groups = next(group for group in card.groups if group.name == "ep")
    assert (ep_groups.leave_node, ep_groups.leave_domain) == (18, 0)


def test_pytorch_189902_tokens_are_even_and_work_is_not() -> None:
    """A causal sequence of 8 on 2 ranks: 18 pairs each head-tail, 10 against 26 in two runs."""
    split = head_tail(8, 2)
    assert [split.causal_work(rank) for rank in range(2)] == [18, 18]
    assert [split.contiguous_work(rank) for rank in range(2)] == [10, 26]


def test_treescope_70_jax_23936_metal_11406_shapes_are_enough() -> None:
    """No array, no device: three dims, hosts of every rank and who holds an element, on 16,384 ranks."""
    model, cluster = load_model("llama3.1-405b"), Cluster(load_gpu("h100-sxm"), 16384)
    world = Scenario(model, cluster, plan_from(PlanChoices(tp=8, seq=4096), model, cluster))
    view = parameter_view(world, "layers.0.attention.wq")
    assert prod(view.map.shape) == 16384 * 16384
    assert mesh_card(world, 12345).node == 1543
    assert [name for name, _ in groups_of(world)] == ["tp", "dp_shard"]
    assert list(experts_of(256, 64, 63)) == [252, 253, 254, 255]
