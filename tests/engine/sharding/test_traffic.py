"""The traffic table of scenarios: the papers' volume, what frameworks send, and public reports about both."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from scaletui_engine.catalog import load_gpu, load_model
from scaletui_engine.cluster import Cluster
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.errors import ValueRangeError
from scaletui_engine.model import Arch, Model, Moe
from scaletui_engine.plan import Recompute, Split, Strategy
from scaletui_engine.runtime import CpExchange, Framework, Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.orders import Order
from scaletui_engine.sharding.rank_card import mesh_card
from scaletui_engine.sharding.traffic.call import total_sent
from scaletui_engine.sharding.traffic.data_volume import Volume, deepspeed_zero, zero1, zero3
from scaletui_engine.sharding.traffic.table import Traffic, traffic
from scaletui_engine.tensors import count_parameters

TINY = Arch(layers=2, hidden=16, heads=4, kv_heads=4, head_dim=4, ffn=32, vocab=64)
"""No padding on 8 ranks."""
PSI = count_parameters(TINY).total


def scenario(gpus: int, arch: Arch = TINY, **choices: object) -> Scenario:
    model, cluster = Model("tiny", "test", arch, None, "made for tests"), Cluster(load_gpu("h100-sxm"), gpus)
    given: dict[str, object] = {"seq": 32, **choices}
    return Scenario(model, cluster, plan_from(PlanChoices(**given), model, cluster))  # type: ignore[arg-type]


def bytes_by(found: Traffic, what: str) -> int:
    return sum(row.call.sent for row in found.implemented if row.call.what == what)


def counts(found: Traffic, group: str) -> Counter[str]:
    seen: Counter[str] = Counter()
    for row in found.implemented:
        if row.group == group and row.call.what not in ("gradient_norm", "loss_value"):
            seen[row.call.op.value] += row.call.collectives
    return seen


def test_deepspeed_5758_7059_6463_reduce_scatter_still_all_reduces() -> None:
    """7 B parameters, bf16, dp 8: 24.5 GB by the paper, 36.75 GB by default."""
    volume = Volume(7_000_000_000, 2, 2, 8)
    assert total_sent(zero1(volume)) == 24_500_000_000
    assert total_sent(deepspeed_zero(volume, 1)) == 36_750_000_000
    found = traffic(scenario(8, strategy=Strategy.ZERO2))
    assert [row.call.op.value for row in found.implemented[:2]] == ["all-reduce", "all-gather"]
    assert [row.call.op.value for row in found.paper] == ["reduce-scatter", "all-gather"]


def test_deepspeed_2252_stage_2_reduces_every_microbatch() -> None:
    reductions = {
        strategy: traffic(scenario(8, strategy=strategy, global_batch=32)).implemented[0].call.count
        for strategy in (Strategy.ZERO1, Strategy.ZERO2)
    }
    assert reductions == {Strategy.ZERO1: 1, Strategy.ZERO2: 4}


def test_pytorch_154888_hsdp_over_one_shard_still_reduces() -> None:
    """FSDP1 skipped it (8 replicas, 1 shard); FSDP2 all-reduces, and gathers nothing."""
    rows = counts(traffic(scenario(8, strategy=Strategy.HSDP, dp_replicate=8, dp_shard=1)), "dp_replicate")
    assert rows == {"all-reduce": 3}


def test_fsdp2_reduces_in_fp32_what_it_gathers_in_bf16() -> None:
    """4 Psi in units of bf16, not 3: two gathers of 2 bytes and a reduce-scatter of 4."""
    found = traffic(scenario(8, runtime=Runtime(reshard_last=True, reshard_root=True)))
    gathered = bytes_by(found, "weights_forward") + bytes_by(found, "weights_backward")
    assert (gathered, bytes_by(found, "gradients")) == (2 * PSI * 2 * 7 // 8, PSI * 4 * 7 // 8)
    paper = sum(row.call.sent for row in found.paper)
    assert paper == total_sent(zero3(Volume(PSI, 2, 2, 8))) == 3 * PSI * 2 * 7 // 8


@pytest.mark.parametrize(
    ("runtime", "accumulation", "expected"),
    [
        (Runtime(reshard_last=True), 4, {"all-gather": 20, "reduce-scatter": 12}),
        (Runtime(reshard_last=True, no_sync=True), 4, {"all-gather": 20, "reduce-scatter": 3}),
        (Runtime(), 1, {"all-gather": 4, "reduce-scatter": 3}),
    ],
    ids=["b07-sync-every", "b07-no-sync-until-last", "torchtitan-keeps-the-last-layer"],
)
def test_gathers_of_two_layers_and_a_root(
    runtime: Runtime, accumulation: int, expected: dict[str, int]
) -> None:
    found = traffic(scenario(8, runtime=runtime, global_batch=8 * accumulation))
    assert counts(found, "fsdp") == expected


def test_b08_recomputing_gathers_nothing_more() -> None:
    plain, again = (traffic(scenario(8, recompute=how)) for how in (Recompute.NONE, Recompute.FULL))
    assert counts(plain, "fsdp") == counts(again, "fsdp")


@pytest.mark.parametrize(
    ("framework", "sequence", "expected"),
    [
        (Framework.TORCH, False, {"all-reduce": 2 * 7 + 1 + 1 + 3}),
        (Framework.MEGATRON, False, {"all-reduce": 2 * 4 + 1 + 1 + 3}),
        (Framework.TORCH, True, {"all-gather": 2 * 4 + 2, "reduce-scatter": 2 * 4 + 2, "all-reduce": 3 + 5}),
        (
            Framework.MEGATRON,
            True,
            {"all-gather": 2 * 6 + 3, "reduce-scatter": 2 * 4 + 2, "all-reduce": 3 + 1},
        ),
    ],
)
def test_tensor_parallel_collectives_of_two_layers(
    framework: Framework, sequence: bool, expected: dict[str, int]
) -> None:
    plan = {"tp": 2, "sequence_parallel": sequence, "runtime": Runtime(framework=framework)}
    assert counts(traffic(scenario(2, **plan)), "tp") == expected


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (CpExchange.RING, {"send": 2 * (3 + 3 + 4)}),
        (CpExchange.ALL_GATHER, {"all-gather": 4, "reduce-scatter": 2}),
        (CpExchange.ALL_TO_ALL, {"all-to-all": 12}),
    ],
)
def test_context_parallel_collectives(exchange: CpExchange, expected: dict[str, int]) -> None:
    assert counts(traffic(scenario(4, cp=4, runtime=Runtime(cp_exchange=exchange))), "cp") == expected


@pytest.mark.parametrize(("stage", "sends"), [(0, 8 + 0), (1, 16)])
def test_pipeline_messages(stage: int, sends: int) -> None:
    arch = Arch(layers=3, hidden=16, heads=4, kv_heads=4, head_dim=4, ffn=32, vocab=64)
    found = traffic(scenario(3, arch, pp=3, global_batch=8), stage)
    assert counts(found, "pp") == {"send": sends}


def test_what_one_stage_sends_the_next_receives() -> None:
    arch = Arch(layers=4, hidden=16, heads=4, kv_heads=4, head_dim=4, ffn=32, vocab=64)
    plan = {"pp": 4, "global_batch": 8}
    tables = [traffic(scenario(4, arch, **plan), stage) for stage in range(4)]
    assert [bytes_by(table, "activations") > 0 for table in tables] == [True, True, True, False]
    assert [bytes_by(table, "activation_gradients") > 0 for table in tables] == [False, True, True, True]


def test_megatron_bridge_5077_the_heaviest_stage_is_reported() -> None:
    model, cluster = load_model("llama3.1-405b"), Cluster(load_gpu("h100-sxm"), 16384)
    plan = PlanChoices(tp=8, pp=16, layer_split=Split.ENDS, seq=8192, global_batch=2048)
    found = traffic(Scenario(model, cluster, plan_from(plan, model, cluster)))
    assert found.stage_rank == 1
    tp = next(row for row in found.implemented if row.group == "tp")
    assert (tp.groups, tp.leave_domain) == (2048, 0)


def test_nemo_rl_2986_a_domain_is_not_a_node() -> None:
    """GB200: groups of 8 leave nodes of 4 GPUs and stay inside domains of 72."""
    model = Model("tiny", "test", TINY, None, "made for tests")
    cluster = Cluster(load_gpu("gb200"), 144, gpus_per_node=4)
    world = Scenario(
        model,
        cluster,
        plan_from(
            PlanChoices(tp=4, dp_replicate=18, dp_shard=2, strategy=Strategy.HSDP, seq=32), model, cluster
        ),
    )
    card = mesh_card(world, 0)
    shards = next(group for group in card.groups if group.name == "dp_shard")
    assert (shards.size, shards.count, shards.leave_node, shards.leave_domain) == (2, 72, 72, 0)


def test_zeropp_gathers_for_the_backward_pass_inside_a_node() -> None:
    """arXiv:2306.10209: with 2 nodes of 8 the second gather stays on NVLink, the first does not."""
    arch = Arch(layers=2, hidden=512, heads=4, kv_heads=4, head_dim=128, ffn=512, vocab=512)
    plain, second = (
        traffic(scenario(16, arch, strategy=Strategy.ZERO3, runtime=Runtime(zero_hpz=group)))
        for group in (1, 8)
    )
    for before, after in ((plain.paper, second.paper), (plain.implemented, second.implemented)):
        old, new = (
            next(row for row in rows if row.call.what == "weights_backward") for rows in (before, after)
        )
        assert (old.group, old.leave_domain, new.group, new.leave_domain) == ("dp_cp", 1, "hpz", 0)
        assert (old.call.bytes, new.call.ranks) == (new.call.bytes, 8)
        assert (new.groups, new.call.sent) == (2, new.call.bytes * 7 // 8)
        assert new.seconds is not None
        assert old.seconds is not None
        assert new.seconds < old.seconds


def test_an_order_moves_groups_to_other_links() -> None:
    """Llama 3's order puts the stages of 2 inside a node, and the data-parallel groups over two."""
    plan = {"pp": 2, "global_batch": 8}
    found = {
        order: {row.group: row.leave_domain for row in traffic(scenario(16, **plan), order=order).implemented}
        for order in (Order.MEGATRON, Order.LLAMA3)
    }
    assert (found[Order.MEGATRON]["pp"], found[Order.MEGATRON]["fsdp"]) == (8, 0)
    assert (found[Order.LLAMA3]["pp"], found[Order.LLAMA3]["fsdp"]) == (0, 2)


def test_a_stage_that_is_not_there() -> None:
    with pytest.raises(ValueRangeError, match="stage 3 is not in 0 <= stage < pp = 1"):
        traffic(scenario(2), 3)


@pytest.mark.parametrize(("ep", "gathers"), [(1, {"fsdp": 3}), (4, {"fsdp": 3, "edp": 1})])
def test_experts_are_gathered_with_their_layer_unless_other_ranks_share_them(
    ep: int, gathers: dict[str, int]
) -> None:
    """Two layers, one with experts, and the root: with ep 1 torchtitan makes one unit of a layer."""
    arch = replace(TINY, moe=Moe(experts=8, topk=2, ffn=8, first_dense=1))
    found = traffic(scenario(8, arch, ep=ep))
    counted = Counter[str]()
    for row in found.implemented:
        if row.call.what == "weights_forward":
            counted[row.group] += row.call.collectives
    assert counted == gathers
