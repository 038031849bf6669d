"""What torch's ranks hold and send, rank by rank on a fake process group, against the engine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

from scaletui_engine.catalog import load_gpu
from scaletui_engine.cluster import Cluster
from scaletui_engine.defaults import PlanChoices, plan_from
from scaletui_engine.model import Arch, Model
from scaletui_engine.plan import Strategy
from scaletui_engine.runtime import Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.sharding.ddp import buckets
from scaletui_engine.sharding.fsdp1 import flat_parameter
from scaletui_engine.sharding.fsdp2 import Fsdp2, Fsdp2Param, fsdp2_param
from scaletui_engine.sharding.mesh import Axis, Mesh
from scaletui_engine.sharding.parameter_view import parameter_view
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.traffic.fsdp_calls import Degrees, Habits, unit_calls
from scaletui_engine.sharding.traffic.step import Unit
from scaletui_engine.sharding.traffic.table import TrafficRow, traffic

pytestmark = pytest.mark.torch

JOB = Path(__file__).parent / "sharding_job.py"
SHAPES = {
    "column.weight": (7, 6), "column.bias": (7,), "row.weight": (5, 8), "row.bias": (5,),
    "odd.weight": (3, 3), "odd.bias": (3,),
}  # fmt: skip
"""The job's uneven model."""
TP_DIMS = {"column.weight": 0, "column.bias": 0, "row.weight": 1}
ARCH = Arch(layers=2, hidden=24, heads=4, kv_heads=2, head_dim=6, ffn=40, vocab=36)


WORLDS = {
    "fsdp2": 4, "hsdp-2-4": 8, "hsdp-4-2": 8, "tp_fsdp2-3-2": 6, "tp_fsdp2-2-3": 6, "tp_fsdp2-4-2": 8,
    "fsdp1": 4, "fsdp1-whole": 4,
}  # fmt: skip
"""Case -> ranks, all of which are asked."""


@cache
def answers() -> dict[str, dict[str, Any]]:
    """What the job prints for all cases: torch takes its time to start."""
    cases = [f"{case}/{world}/{','.join(map(str, range(world)))}" for case, world in WORLDS.items()]
    cases += [f"{case}/{gpus}/{gpus - 1}" for case, (gpus, *_) in PLANS.items()]
    cases += [
        "traffic-ddp/1/0",
        *(f"{case}/8/7" for case in ACCUMULATED),
        "activations-tp/2/0,1",
        "activations-sp/2/0,1",
        "mesh/16384/0,12345,16383",
        "ddp/1/0",
    ]
    command = [sys.executable, "-W", "ignore", str(JOB), *cases]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def ranks_of(case: str) -> dict[int, Any]:
    """Rank -> what it says."""
    return {int(rank): value for rank, value in answers()[case].items()}


def places(param: Fsdp2Param, rank: int) -> list[int]:
    """Row-major places in the whole parameter of the elements that a rank holds."""
    indices = [[i for start, stop in along for i in range(start, stop)] for along in param.real.slices(rank)]
    found = []
    for index in product(*indices):
        place = 0
        for each, length in zip(index, param.real.shape, strict=True):
            place = place * length + each
        found.append(place)
    return found


@pytest.mark.parametrize(
    ("case", "cut"),
    [
        ("fsdp2", Fsdp2(4)),
        ("hsdp-2-4", Fsdp2(4, 2)),
        ("hsdp-4-2", Fsdp2(2, 4)),
        ("tp_fsdp2-3-2", Fsdp2(3, tp=2)),
        ("tp_fsdp2-2-3", Fsdp2(2, tp=3)),
        ("tp_fsdp2-4-2", Fsdp2(4, tp=2)),
    ],
)
def test_every_parameter_of_every_rank(case: str, cut: Fsdp2) -> None:
    for rank, held in ranks_of(case).items():
        for name, shape in SHAPES.items():
            split = cut.tp > 1 and name.startswith(("column", "row"))
            own = Fsdp2(cut.shards, cut.replicas, 0, cut.tp, TP_DIMS.get(name))
            param = fsdp2_param(shape, own)
            assert held[name]["places"] == places(param, rank), (rank, name)
            declared = [str(each).replace("sf=", " ") for each in param.declared.placements]
            assert held[name]["placements"] == (declared if split or cut.tp == 1 else declared[:1])


def test_the_metadata_of_torch_is_wrong_where_the_engine_says_so() -> None:
    """pytorch #168134: 7 rows on dp 3 x tp 2; placements say that rank 4 holds the last row, rank 5 does."""
    param = fsdp2_param((7, 6), Fsdp2(3, tp=2, tp_dim=0))
    held = ranks_of("tp_fsdp2-3-2")
    assert [rank for rank in range(6) if not param.agrees(rank)] == [4, 5]
    assert (held[4]["column.weight"]["places"], held[5]["column.weight"]["places"]) == (
        [],
        list(range(36, 42)),
    )


@pytest.mark.parametrize(("case", "orig"), [("fsdp1", True), ("fsdp1-whole", False)])
def test_flat_parameters(case: str, orig: bool) -> None:
    numels = [prod(shape) for shape in SHAPES.values()]
    flat = flat_parameter(tuple(numels), 4, 4, use_orig_params=orig)
    for rank, held in ranks_of(case).items():
        assert held["shard"] == flat.shard_numel
        assert [each for each in held["infos"] if each is not None] == [
            [part.intra[0], part.intra[1] - 1, part.offset] for part in flat.parts(rank)
        ]
        assert [index for index, each in enumerate(held["infos"]) if each is not None] == [
            part.param for part in flat.parts(rank)
        ]


@pytest.mark.parametrize("rank", [0, 12345, 16383])
def test_a_mesh_of_five_axes_on_16384_ranks(rank: int) -> None:
    sizes = {"pp": 16, "dp_replicate": 2, "dp_shard": 32, "cp": 2, "tp": 8}
    mesh = Mesh(tuple(Axis(name, size) for name, size in sizes.items()))
    held = ranks_of("mesh")[rank]
    assert held["coordinate"] == list(mesh.coordinate(rank))
    assert held["groups"] == {name: list(mesh.groups(name).of(rank)) for name in sizes}


def scenario(gpus: int, microbatches: int = 1, **choices: Any) -> Scenario:
    model, cluster = Model("tiny", "test", ARCH, None, "made for tests"), Cluster(load_gpu("h100-sxm"), gpus)
    given: dict[str, Any] = {"runtime": Runtime(reshard_last=True), **choices}
    axes = plan_from(PlanChoices(micro_batch=2, seq=8, **given), model, cluster).axes
    kept = PlanChoices(micro_batch=2, seq=8, global_batch=2 * axes.dp * microbatches, **given)
    return Scenario(model, cluster, plan_from(kept, model, cluster))


def sent(rows: tuple[TrafficRow, ...], *leave: str) -> tuple[Counter[str], Counter[str]]:
    """(collectives, payload bytes) by op, scalars and the named rows left out."""
    counts, payload = Counter[str](), Counter[str]()
    for row in rows:
        if row.call.what not in ("gradient_norm", "loss_value", *leave):
            counts[row.call.op.value] += row.call.collectives
            payload[row.call.op.value] += row.call.bytes
    return counts, payload


TP = {"tp": 2, "strategy": Strategy.DDP, "precision": "fp32"}
PLANS: dict[str, tuple[int, int, dict[str, Any], tuple[str, ...]]] = {
    "traffic-fsdp": (8, 2, {"strategy": Strategy.FSDP}, ()),
    "traffic-hsdp": (8, 2, {"strategy": Strategy.HSDP, "dp_replicate": 2}, ()),
    "traffic-tp": (2, 1, {**TP, "sequence_parallel": False}, ()),
    # Without FSDP nothing asks DTensor for the reduced gradients of the norms.
    "traffic-sp": (2, 1, TP, ("norm_gradients",)),
    "traffic-fsdp-and-sp": (8, 1, {"tp": 2, "strategy": Strategy.FSDP, "precision": "fp32"}, ()),
}
"""Case -> (ranks, microbatches, plan, rows that the job does not send)."""


@pytest.mark.parametrize("case", PLANS)
def test_counts_and_bytes_that_torch_dispatches(case: str) -> None:
    gpus, microbatches, choices, left = PLANS[case]
    rows = traffic(scenario(gpus, microbatches, **choices)).implemented
    held = ranks_of(case)[gpus - 1]
    assert sent(rows, *left)[0] == held["counts"]
    payload = Counter[str]()
    for op, size in held["calls"]:
        payload[op] += size
    # The parallel loss reduces behind the dispatcher: CommDebugMode counts it, bytes are not to be seen.
    assert sent(rows, "loss", *left)[1] == payload


ACCUMULATED = {
    "accumulated-every": Habits(4),
    "accumulated-last": Habits(4, sync_every=False),
    "accumulated-kept": Habits(4, False, reshard_after_backward=False, sync_every=False),
    "accumulated-root": Habits(1),
}


@pytest.mark.parametrize("case", ACCUMULATED)
def test_gathers_and_reductions_of_microbatches(case: str) -> None:
    """Layers that are freed or kept between microbatches, and a model in one call of fully_shard."""
    unit = Unit(2, root=False, expert=False, numel=64, padded=64, shapes=(64,))
    if case.endswith("root"):
        unit = Unit(1, root=True, expert=False, numel=128, padded=128, shapes=(64, 64))
    counts, payload = Counter[str](), Counter[str]()
    for call in unit_calls(unit, Degrees(8), ACCUMULATED[case]):
        counts[call.op.value] += call.collectives
        payload[call.op.value] += call.bytes
    held = ranks_of(case)[7]["calls"]
    assert counts == Counter(op for op, _ in held)
    assert payload == {op: sum(size for each, size in held if each == op) for op in counts}


ACTIVATIONS = {
    "tok_embeddings": "tok_embeddings.output",
    "layers.1.attention.wq": "layers.{layer}.attention.q",
    "layers.1.attention.wk": "layers.{layer}.attention.k",
    "layers.1.attention.wv": "layers.{layer}.attention.v",
    "layers.1.attention.wo": "layers.{layer}.attention.output", "layers.1": "layers.{layer}.input",
    "layers.1.feed_forward.w1": "layers.{layer}.feed_forward.inner",
    "layers.1.feed_forward.w2": "layers.{layer}.feed_forward.output",
    "norm": "norm.output", "output": "logits",
}  # fmt: skip
"""Module -> what it puts out."""


@pytest.mark.parametrize("case", ["activations-tp", "activations-sp"])
def test_activations_of_tensor_and_sequence_parallelism(case: str) -> None:
    world = scenario(2, **TP, sequence_parallel=case.endswith("sp"))
    for rank, held in ranks_of(case).items():
        for module, name in ACTIVATIONS.items():
            piece = parameter_view(world, name, Part.ACTIVATIONS).piece(rank)
            shape = [sum(stop - start for start, stop in along) for along in piece.region]
            assert held[module] == shape, (module, rank)


def test_counts_and_bytes_of_ddp() -> None:
    """The fake group aborts under DDP: one rank of gloo stands for all, buckets depend on no world."""
    own = Runtime(bucket_bytes=1024 * 1024 // 128)
    plan = {"strategy": Strategy.DDP, "precision": "fp32", "runtime": own}
    rows = traffic(scenario(8, **plan)).implemented
    held = ranks_of("traffic-ddp")[0]
    counts, payload = sent(rows)
    assert counts == held["counts"]
    assert payload == Counter({"all-reduce": sum(size for _, size in held["calls"])})
    assert {op for op, _ in held["calls"]} == {"all-reduce"}


def test_gradient_buckets_of_ddp() -> None:
    """One bucket of everything, then buckets closed at the cap in the order in which gradients are ready."""
    first, second = ranks_of("ddp")[0]["buckets"]
    item, kv = 4, ARCH.kv_heads * ARCH.head_dim
    layer = [24, 24 * 24, kv * 24, kv * 24, 24 * 24, 24, 40 * 24, 40 * 24, 40 * 24]
    numels = [36 * 24, *layer, *layer, 24, 36 * 24]
    assert first == [sum(numels) * item]
    sizes = [numel * item for numel in numels]
    cap = 1024 * 1024 / 128
    assert second == [sum(sizes[index] for index in each) for each in buckets(sizes, (cap, cap))]
