"""The published cases that are no table of slices: FSDP2's traffic and memory, times, topologies, viewers."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest

from scaletui_engine.catalog import load_gpu, load_model
from scaletui_engine.cluster import Cluster
from scaletui_engine.collectives import bandwidth
from scaletui_engine.collectives.cost import Wires, cost, hierarchical, ring
from scaletui_engine.collectives.topology import parse_topology
from scaletui_engine.collectives.wire import Collective, nvls_factor
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.errors import ParseError, ValueRangeError
from scaletui_engine.model import Arch, Model
from scaletui_engine.plan import Recompute, Strategy
from scaletui_engine.runtime import Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.fsdp2 import Fsdp2, fsdp2_param, padded_numel, unit_elements, unshard_groups
from scaletui_engine.sharding.layout import Layout, checked_layout
from scaletui_engine.sharding.mesh import Axis, Mesh
from scaletui_engine.sharding.placement import REPLICATE, lengths, shard
from scaletui_engine.sharding.traffic.data_volume import Volume, replicated
from scaletui_engine.sharding.traffic.fsdp_calls import Degrees, Habits, unit_calls
from scaletui_engine.sharding.traffic.step import Unit
from scaletui_engine.sharding.traffic.table import traffic
from scaletui_engine.tensors import tensors

FOLDER = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(FOLDER))

from scoring.sharding import REPORTED  # noqa: E402

GOLDEN = json.loads((FOLDER / "sharding.json").read_text("utf-8"))
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in GOLDEN["cases"]}


def case(name: str) -> tuple[Any, Any]:
    return CASES[name]["input"], CASES[name]["expected"]


def test_b03_a_group_pays_for_padding() -> None:
    given, expected = case("B03")
    unit, item = unit_elements(map(tuple, given["params"]), given["world"]), given["dtype_bytes"]
    assert unit.gathered == expected["allgather_output_elems"]
    assert (
        unit.gathered * item == expected["allgather_output_bytes"] == expected["reduce_scatter_input_bytes"]
    )
    assert (unit.real, unit.padded_per_rank) == (expected["real_elems"], expected["per_rank_elems"])


def test_b05_the_metadata_disagrees_with_the_bytes() -> None:
    given, expected = case("B05")
    param = fsdp2_param((given["dim"],), Fsdp2(given["mesh"][0], tp=given["mesh"][1], tp_dim=0))
    for row in expected:
        rank = row["rank"]
        real, declared = (
            [i for start, stop in layout.slices(rank)[0] for i in range(start, stop)]
            for layout in (param.real, param.declared)
        )
        assert (real, declared, param.agrees(rank)) == (row["real_rows"], row["metadata_rows"], row["agree"])


def test_b09_an_integer_regathers_inside_contiguous_groups() -> None:
    given, expected = case("B09")
    groups = unshard_groups(given["world"], given["raf"])
    assert {len(group) for group in groups} == {expected["bwd_ag_group"]}
    assert groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert given["numel"] // given["raf"] == expected["bwd_ag_input"]
    assert padded_numel((given["numel"],), given["world"]) == expected["fwd_ag_input"]


def traffic_of(gpus: int, arch: Arch, **choices: Any) -> Counter[tuple[str, str]]:
    """(op, what) -> collectives of a step; one parameter as near to a case as a model gets."""
    model, cluster = Model("tiny", "test", arch, None, "made for tests"), Cluster(load_gpu("h100-sxm"), gpus)
    plan = plan_from(PlanChoices(seq=16, precision="fp32", **choices), model, cluster)
    found = Counter[tuple[str, str]]()
    for row in traffic(Scenario(model, cluster, plan)).implemented:
        found[row.call.op.value, row.call.what] += row.call.collectives
    return found


LAYERS = Arch(layers=2, hidden=8, heads=2, kv_heads=2, head_dim=4, ffn=16, vocab=16)


@pytest.mark.parametrize(
    ("key", "runtime"),
    [
        ("sync_every", Runtime(reshard_last=True)),
        ("no_grad_sync_until_last", Runtime(reshard_last=True, no_sync=True)),
    ],
)
def test_b07_microbatches_gather_every_time(key: str, runtime: Runtime) -> None:
    """Two layers, four microbatches; the root's own gather and reduction are left out."""
    given, expected = case("B07")
    assert (given["layers"], given["micro"]) == (2, 4)
    plan = {"runtime": runtime, "global_batch": given["world"] * given["micro"]}
    counted = traffic_of(given["world"], LAYERS, **plan)
    root = {"all-gather": given["micro"], "reduce-scatter": 1 if runtime.no_sync else given["micro"]}
    gathers = sum(count for (op, _), count in counted.items() if op == "all-gather")
    scatters = sum(count for (op, _), count in counted.items() if op == "reduce-scatter")
    assert gathers - root["all-gather"] == expected[key]["all_gather"]
    assert scatters - root["reduce-scatter"] == expected[key]["reduce_scatter"]


HABITS = {
    "sync_every": Habits(4),
    "no_grad_sync_until_last": Habits(4, sync_every=False),
    "keep_unsharded_until_last_raf_false": Habits(4, False, reshard_after_backward=False, sync_every=False),
    "root_only_wrap_one_step": Habits(1, sync_every=False),
}
"""Case -> what the script asks of its units."""


@pytest.mark.parametrize("key", HABITS)
def test_b07_units_alone(key: str) -> None:
    """Two layers of 64 parameters and a root that has none; or one call on the model, that of the root."""
    given, expected = case("B07")
    whole, item = given["layers"] * given["layer_bytes"] // 4, HABITS[key].gather_bytes
    layers = Unit(given["layers"], root=False, expert=False, numel=64, padded=64, shapes=(64,))
    root = Unit(1, root=True, expert=False, numel=whole, padded=whole, shapes=(64, 64))
    unit = root if key.startswith("root") else layers
    calls = list(unit_calls(unit, Degrees(given["world"]), HABITS[key]))
    counted = Counter[str]()
    for call in calls:
        counted[call.op.value] += call.collectives
    wanted = expected[key]
    assert counted == {"all-gather": wanted["all_gather"], "reduce-scatter": wanted["reduce_scatter"]}
    if unit is root:
        assert [call.bytes for call in calls] == [wanted["all_gather_bytes"], whole * item]


def test_b08_recomputing_gathers_no_more() -> None:
    given, expected = case("B08")
    arch = replace(LAYERS, layers=given["blocks"])
    plan = {"runtime": Runtime(reshard_last=True), "recompute": Recompute.FULL}
    counted = traffic_of(given["world"], arch, **plan)
    gathers = sum(count for (op, _), count in counted.items() if op == "all-gather")
    assert (gathers - 1, counted["reduce-scatter", "gradients"] - 1) == (
        expected["all_gather"], expected["reduce_scatter"],
    )  # fmt: skip


def test_b10_hsdp_reduces_what_is_scattered_already() -> None:
    given, expected = case("B10")
    replicas, shards = given["mesh"]
    weight = unit_elements([(16, 16)], shards)
    item = given["bytes"] // weight.real
    assert weight.gathered * item == expected["all_gather_out"] == expected["reduce_scatter_in"]
    calls = replicated(Volume(weight.real, item, item, shards, replicas))
    assert [(call.op.value, call.bytes, call.ranks) for call in calls] == [
        ("all-reduce", expected["all_reduce"], replicas)
    ]


def test_b11_one_shard_still_reduces() -> None:
    given, expected = case("B11")
    replicas, shards = given["mesh"]
    counted = traffic_of(replicas, LAYERS, strategy=Strategy.HSDP, dp_replicate=replicas, dp_shard=shards)
    ops = Counter(
        op for (op, what), count in counted.items() if what == "gradient_shards" for _ in range(count)
    )
    assert counted["all-gather", "weights_forward"] == expected["all_gather"]
    assert counted["reduce-scatter", "gradients"] == expected["reduce_scatter"]
    units = LAYERS.layers + 1
    assert ops == {"all-reduce": expected["all_reduce"] * units}
    (call,) = replicated(Volume(given["bytes"] // 4, 4, 4, shards, replicas))
    assert call.bytes == expected["all_reduce_bytes"]


@pytest.mark.parametrize("world", [8, 16, 24, 96, 1024])
def test_b12_llama_3_8b_per_rank(world: int) -> None:
    expected = CASES["B12"]["expected"][str(world)]
    listed = tensors(load_model("llama3-8b").arch)
    padded = sum(padded_numel(tensor.shape, world) * tensor.copies for tensor in listed)
    total = sum(prod(tensor.shape) * tensor.copies for tensor in listed)
    assert (padded, padded * world - total) == (expected["padded_per_rank"], expected["overhead_elems"])


def test_h17_busbw_of_nccl_tests() -> None:
    given, expected = case("H17")
    seconds = bandwidth.seconds(Collective.ALL_REDUCE, given["S"], given["n"], given["busbw"])
    assert seconds == pytest.approx(expected["seconds"], rel=1e-12)
    assert bandwidth.algbw(given["S"], seconds) / 1e9 == pytest.approx(expected["algbw_GBps"], rel=1e-12)


def test_h18_deepspeeds_log_counts_twice() -> None:
    given, expected = case("H18")
    algbw, busbw = bandwidth.deepspeed_log(given["msg_MiB"], given["ms"] / 1e3, given["n"])
    found = [round(algbw, 2), round(busbw, 2), round(algbw / 2, 2)]
    assert found == pytest.approx(
        [expected["algbw_Gbps"], expected["busbw_Gbps"], expected["nccl_algbw_Gbps"]], abs=0.011
    )


def test_h19_nvls_may_report_more_than_the_line_rate() -> None:
    given, expected = case("H19")
    assert float(nvls_factor(given["n"])) == expected["factor_nvls"]
    assert bandwidth.nvls_bus_bandwidth(given["line_GBps"], given["n"]) == pytest.approx(
        expected["max_reported_busbw"], rel=1e-12
    )


def test_h20_all_to_all_over_many_nodes() -> None:
    given, expected = case("H20")
    found = [bandwidth.all_to_all_over_nic(nodes) for nodes in given["nodes"]]
    assert found == [Fraction(text) for text in expected["busbw_over_nic"]]


def test_h21_only_a_piece_leaves_the_node() -> None:
    given, expected = case("H21")
    found = bandwidth.hierarchical_bytes(given["S"], given["N"], given["g"])
    assert found == (expected["intra_rs"], expected["inter_ar"], expected["intra_ag"])
    assert sum(found) == expected["flat_ring"]


def test_h22_h23_tpu_rings() -> None:
    given, expected = case("H22")
    payload = given["E"] * given["F"] * given["bytes"]
    assert payload == expected["bytes"]
    assert bandwidth.tpu_all_gather_s(payload, 9e10) * 1e6 == pytest.approx(expected["ideal_us"], abs=0.01)
    assert bandwidth.tpu_hops_s(payload // 4, 3, 4.5e10) * 1e6 == pytest.approx(
        expected["three_hops_us"], abs=0.01
    )
    given, expected = case("H23")
    shards = 2 * given["B"] * given["D"] // (given["X"] * given["Y"])
    assert 2 * bandwidth.tpu_all_gather_s(shards, given["W"]) * 1e6 == pytest.approx(
        expected["correct_us"], abs=0.01
    )


def test_h24_torchs_own_cost_model() -> None:
    given, expected = case("H24")
    assert bandwidth.dtensor_all_gather_us(given["gb"], given["n"]) == pytest.approx(
        expected["us"], abs=0.001
    )


def test_i01_a_legacy_box() -> None:
    given, expected = case("I01")
    found = parse_topology(given["text"])
    assert (found.gpus, found.symmetric) == (expected["gpus"], expected["symmetric"])
    for group, link in expected["worst_link"].items():
        assert found.worst(json.loads(group)) == link
    assert (found.worst((0, 1)), found.worst((0, 2))) == (expected["tp2_contiguous"], expected["tp2_strided"])


def test_i02_a_gb200_tray() -> None:
    given, expected = case("I02")
    found = parse_topology(given["text"])
    assert (found.gpus, found.all_nvlink, list(found.numa)) == (
        expected["gpus"], expected["all_nvlink"], expected["numa"],
    )  # fmt: skip
    assert found.worst(range(4)) == f"NV{expected['links']}"


@pytest.mark.parametrize("text", ["", "GPU0 GPU1\nGPU0 X", "\tGPU0\tGPU1\nGPU0\t X \tNVX\nGPU1\tNVX\t X\n"])
def test_texts_that_are_no_topology(text: str) -> None:
    with pytest.raises(ParseError, match="topo -m"):
        parse_topology(text)


def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(ValueRangeError, match="GPU 4 is not in 0 <= GPU < 4"):
        parse_topology(CASES["I02"]["input"]["text"]).worst((0, 4))


def test_j01_three_dims_j02_empty_ranks_j06_no_data() -> None:
    cube = Layout((4, 4, 4), Mesh((Axis("a", 2), Axis("b", 4))), (shard(0), REPLICATE))
    assert [segment.interval for segment in cube.segments(0)] == [(0, 2), (2, 4)]
    assert [len(segment.ranks) for segment in cube.segments(2)] == [8]
    small = Layout((3, 4), Mesh((Axis("a", 8),)), (shard(0),))
    assert list(small.empty()) == [3, 4, 5, 6, 7]
    huge = Layout((5120, 5120), Mesh((Axis("a", 1), Axis("b", 4))), (REPLICATE, shard(1)))
    assert list(huge.holders((5119, 5119))) == [3]


def test_j05_the_tiles_of_torchs_own_picture() -> None:
    picture = Layout((16, 8), Mesh((Axis("a", 2), Axis("b", 4))), (shard(0), shard(1)))
    rows, columns = list(picture.segments(0)), list(picture.segments(1))
    assert [each.interval for each in rows] == [(0, 8), (8, 16)]
    assert [each.interval for each in columns] == [(0, 2), (2, 4), (4, 6), (6, 8)]
    tiles = [[list(row.ranks.both(column.ranks) or ()) for column in columns] for row in rows]
    assert tiles == [[[0], [1], [2], [3]], [[4], [5], [6], [7]]]


def test_j04_the_lengths_that_a_user_gave_are_shown() -> None:
    """pytorch #144109: torch's viewer computes even chunks anew, whatever the shards really are."""
    given, expected = case("J04")
    total = sum(given["local_cols"])
    layout = checked_layout(
        Layout((4, total), Mesh((Axis("a", given["mesh"][0]),)), (lengths(1, tuple(given["local_cols"])),))
    )
    shown = [[along[0][0], along[0][1] - 1] for rank in range(4) for along in (layout.slices(rank)[1],)]
    assert shown == expected["correct"] != expected["torch_shows"]
    assert [list(layout.holders((0, column))) for column in (0, 4, 5, 13)] == [[0], [1], [2], [3]]


def test_every_case_without_a_score_has_a_test() -> None:
    """J03 is the screen's: tests/tui/sharding/test_views.py."""
    reported = {name for name, each in CASES.items() if each["kind"] in REPORTED}
    here = " ".join(name for name in globals() if name.startswith("test_")).upper()
    assert {name for name in reported if f"_{name}_" not in here} == {"J03"}


def test_the_cheapest_algorithm_is_taken() -> None:
    wires = Wires(32, 8, 450e9, 50e9, nvls=True)
    found = cost(Collective.ALL_REDUCE, 1 << 30, wires)
    assert found.seconds <= min(
        ring(Collective.ALL_REDUCE, 1 << 30, wires).seconds, hierarchical(1 << 30, wires).seconds
    )
    assert cost(Collective.ALL_REDUCE, 1 << 30, Wires(1, 1, 1.0, 1.0)).seconds == 0
