"""Rebuilding a scenario from a plan: architecture from shapes, mesh from placements, the rest from names."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from live_ranks import GIB, IDENTITY

from scaletui_engine.catalog import load_model
from scaletui_engine.live.architecture import UnreadableError, read_architecture
from scaletui_engine.live.device import device_of
from scaletui_engine.live.outcome import Batch, Rebuilt, Unbuilt
from scaletui_engine.live.plan_document import (
    JobPlan,
    OptimizerGroup,
    PlannedGroup,
    PlannedOptimizer,
    PlannedParameter,
)
from scaletui_engine.live.rebuilt import (
    foretold,
    optimizer_of,
    precision_of,
    rebuilt,
)
from scaletui_engine.memory.evaluation import evaluate
from scaletui_engine.model import Arch
from scaletui_engine.plan import Axes, Strategy
from scaletui_engine.tensors import tensors
from scaletui_engine.units import MIB

TWO = Batch(2, 64)
EVEN = Arch(4, 256, 4, 2, 64, 512, 1000)
SMALL = Arch(4, 126, 6, 2, 21, 341, 1001)
UNKNOWN = ("head_dim", "heads", "kv_heads", "act", "rope_theta", "sliding_window", "sliding_layers")
"""What no shape tells; heads times their size it does."""


def parameters_of(arch: Arch) -> list[tuple[str, tuple[int, ...]]]:
    """Every parameter by name, as a job lists them."""
    return [
        (tensor.name.format(layer=layer, expert=expert), tensor.shape)
        for tensor in tensors(arch)
        for layer in (tensor.layers if tensor.layers is not None else (None,))
        for expert in range(tensor.experts)
    ]


@pytest.mark.parametrize(
    "model",
    [
        "llama3-8b",
        "llama3.2-1b",
        "gpt2-124m",
        "qwen2.5-7b",
        "qwen3-8b",
        "gemma2-9b",
        "mpt-7b",
        "smollm2-135m",
    ],
)
def test_an_architecture_is_read_from_shapes_that_nobody_published(model: str) -> None:
    known = load_model(model).arch
    arch = replace(known, vocab=known.vocab + 64)
    read = read_architecture(parameters_of(arch))
    assert (read.left_over, read.model) == (0, "")
    found = {
        field.name: getattr(read.arch, field.name) for field in fields(Arch) if field.name not in UNKNOWN
    }
    assert found == {name: getattr(arch, name) for name in found}
    assert read.arch.heads * read.arch.head_dim == arch.heads * arch.head_dim
    assert read.arch.kv_heads * read.arch.head_dim == arch.kv_heads * arch.head_dim


@pytest.mark.parametrize("model", ["deepseek-v2-lite-16b", "mixtral-8x7b", "olmo2-7b", "gpt-oss-20b"])
def test_a_published_model_is_known_by_its_shapes(model: str) -> None:
    read = read_architecture(parameters_of(load_model(model).arch))
    assert read.arch == load_model(read.model).arch
    assert sorted(parameters_of(read.arch)) == sorted(parameters_of(load_model(model).arch))


def test_a_few_more_parameters_are_left_over_and_counted() -> None:
    assert read_architecture([*parameters_of(SMALL), ("temperature", (1,))]).left_over == 1


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ([("w", (10, 3))], "no numbered layers"),
        ([("blocks.0.w", (10, 3))], "no table of tokens outside the layers"),
        ([*parameters_of(SMALL), ("vision.proj", (900, 901))], "elements"),
        ([("embed", (53, 17)), ("blocks.0.wide.weight", (31, 17))], "0 matrices of attention"),
    ],
)
def test_other_models_say_where_it_ends(parameters: list[tuple[str, tuple[int, ...]]], why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        read_architecture(parameters)


def plan_of(arch: Arch = SMALL, shards: int = 4, **changes: object) -> JobPlan:
    """A plan of FSDP2 over so many ranks."""
    rows = tuple(
        PlannedParameter(name, shape, "float32", True, 0, 0, 0, ("S(0)",), (shards,), (0,), "cuda")
        for name, shape in parameters_of(arch)
    )
    adam = PlannedOptimizer("torch.optim.adamw.AdamW", (OptimizerGroup({}),))
    group = PlannedGroup("layers.0", shards, "bfloat16", "float32", True)
    return replace(
        JobPlan(1, "fsdp2", ("dp",), (shards,), (0,), (adam,), (group,), rows, len(rows)), **changes
    )


def relaid(plan: JobPlan, placements: tuple[str, ...], mesh: tuple[int, ...]) -> JobPlan:
    rows = tuple(
        replace(row, placements=placements, mesh_shape=mesh, coordinate=(0,) * len(mesh))
        for row in plan.parameters
    )
    return replace(plan, parameters=rows)


def of(plan: JobPlan, world: int = 4, batch: Batch = TWO) -> Rebuilt | Unbuilt:
    return rebuilt(plan, replace(IDENTITY, world_size=world, local_world_size=4), batch, 80 * GIB)


@pytest.mark.parametrize(
    ("plan", "world", "strategy", "axes"),
    [
        (plan_of(), 4, Strategy.FSDP, Axes(dp_shard=4)),
        (
            relaid(plan_of(shards=2), ("R", "S(0)"), (2, 2)),
            4,
            Strategy.HSDP,
            Axes(dp_replicate=2, dp_shard=2),
        ),
        (
            relaid(plan_of(EVEN, shards=2), ("_S(0, 2)", "S(0)"), (2, 2)),
            4,
            Strategy.FSDP,
            Axes(tp=2, dp_shard=2),
        ),
        (plan_of(wrapper="fsdp1"), 4, Strategy.FSDP1, Axes(dp_shard=4)),
        (relaid(plan_of(wrapper="plain", groups=()), (), ()), 4, Strategy.DDP, Axes(dp_replicate=4)),
        (
            plan_of(wrapper="deepspeed", groups=(PlannedGroup("zero2.0", 4, "bfloat16", None, False),)),
            4,
            Strategy.ZERO2,
            Axes(dp_shard=4),
        ),
    ],
    ids=["fsdp", "hsdp", "fsdp over tp", "fsdp1", "ddp", "zero2"],
)
def test_mesh_and_sharding(plan: JobPlan, world: int, strategy: Strategy, axes: Axes) -> None:
    found = of(plan, world)
    assert isinstance(found, Rebuilt), found
    assert (found.scenario.plan.strategy, found.scenario.plan.axes) == (strategy, axes)


def test_everything_else_is_taken_over() -> None:
    found = of(plan_of())
    assert isinstance(found, Rebuilt)
    plan, cluster = found.scenario.plan, found.scenario.cluster
    assert (plan.precision, plan.optimizer, plan.micro_batch, plan.seq) == ("bf16-mixed", "adamw", 2, 64)
    assert (plan.global_batch, plan.reshard_after_forward) == (8, True)
    assert (cluster.gpus, cluster.gpus_per_node, cluster.gpu.capacity_bytes) == (4, 4, 80 * GIB)
    assert [(t.shape, t.copies) for t in tensors(found.scenario.model.arch)] == [
        (t.shape, t.copies) for t in tensors(SMALL)
    ]


def test_activations_are_foretold_where_the_batch_is_known() -> None:
    found = of(plan_of())
    assert isinstance(found, Rebuilt)
    assert foretold(found) == evaluate(found.scenario).peak
    assert foretold(found).parts.activations > 0
    unknown = of(plan_of(), batch=Batch())
    assert isinstance(unknown, Rebuilt)
    assert foretold(unknown) is None


@pytest.mark.parametrize(
    ("kind", "arguments", "wanted"),
    [
        ("torch.optim.adamw.AdamW", {}, "adamw"),
        ("torch.optim.adam.Adam", {"fused": True}, "adamw-fused"),
        ("torch.optim.sgd.SGD", {"momentum": 0.9}, "momentum"),
        ("torch.optim.sgd.SGD", {"momentum": 0}, "sgd"),
        ("torchao.optim.AdamW8bit", {}, "adam8bit"),
        ("torch.optim.lbfgs.LBFGS", {}, None),
    ],
)
def test_optimizers(kind: str, arguments: dict[str, object], wanted: str | None) -> None:
    optimizers = (PlannedOptimizer(kind, (OptimizerGroup(arguments),)),)
    assert optimizer_of(plan_of(optimizers=optimizers)) == wanted


@pytest.mark.parametrize(
    ("kept", "computed", "wanted"),
    [
        ("float32", "bfloat16", "bf16-mixed"), ("float32", None, "fp32"), ("bfloat16", None, "bf16-pure"),
        ("float32", "float16", "fp16-mixed"), ("float64", None, None),
    ],
)  # fmt: skip
def test_precisions(kept: str, computed: str | None, wanted: str | None) -> None:
    plan = plan_of(groups=(PlannedGroup("", 4, computed, None, True),))
    rows = tuple(replace(row, dtype=kept) for row in plan.parameters)
    assert precision_of(replace(plan, parameters=rows)) == wanted


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        (85_094_039_552, "a100-sxm-80"),
        (80 * GIB, "a100-sxm-80"),
        (81_008 * MIB, "h100-sxm"),
        (85_029_158_912, "h100-sxm"),
        (32_510 * MIB, "v100-sxm2-32"),
        (143_156 * MIB, "h200-sxm"),
        (42_412_802_048, "a100-sxm-40"),
        (7 * GIB, "device"),
        (None, "h100-sxm"),
    ],
)
def test_devices(size: int | None, wanted: str) -> None:
    found = device_of(size)
    assert found.id == wanted
    assert size is None or found.capacity_bytes == size


@pytest.mark.parametrize(
    ("name", "size", "wanted"),
    [
        ("NVIDIA H100 80GB HBM3", 85_029_158_912, "h100-sxm"),
        ("NVIDIA H100 PCIe", 84_943_715_697, "h100-pcie"),
        ("NVIDIA H100 NVL", 99_949_740_032, "h100-nvl"),
        ("NVIDIA H800", 85_029_615_043, "h800-sxm"),
        ("NVIDIA H20", 102_010_716_160, "h20"),
        ("NVIDIA A100-SXM4-80GB", 85_094_039_552, "a100-sxm-80"),
        ("NVIDIA A100-SXM4-40GB", 42_412_802_048, "a100-sxm-40"),
        ("NVIDIA A100 80GB PCIe", 85_094_039_552, "a100-pcie-80"),
        ("Tesla V100-SXM2-32GB", 34_089_730_048, "v100-sxm2-32"),
        ("NVIDIA L40S", 47_697_362_944, "l40s"),
        ("NVIDIA L4", 23_609_475_072, "l4"),
        ("NVIDIA GeForce RTX 4090", 25_393_692_672, "rtx4090"),
        ("NVIDIA RTX 6000 Ada Generation", 51_033_931_776, "rtx6000ada"),
        ("NVIDIA RTX A6000", 51_033_931_776, "a6000"),
        ("AMD Instinct MI300X", 206_141_652_992, "mi300x"),
        ("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 42_412_802_048, "h100-sxm"),
        ("NVIDIA Something New", 42_412_802_048, "a100-sxm-40"),
        ("", 42_412_802_048, "a100-sxm-40"),
    ],
)
def test_a_device_is_the_one_that_cuda_names(name: str, size: int, wanted: str) -> None:
    found = device_of(size, name)
    assert found.id == wanted
    assert found.capacity_bytes == size


@pytest.mark.parametrize(
    ("plan", "world", "why"),
    [
        (plan_of(parameters_total=99_999), 4, "plan cut"),
        (plan_of(), 8, "mesh"),
        (plan_of(optimizers=(PlannedOptimizer("my.Own", (OptimizerGroup({}),)),)), 4, "optimizer"),
        (relaid(plan_of(groups=(PlannedGroup("", 4, "int8", None, True),)), ("S(0)",), (4,)), 4, "precision"),
    ],
    ids=["cut", "mesh", "optimizer", "precision"],
)
def test_what_is_no_scenario_says_why(plan: JobPlan, world: int, why: str) -> None:
    found = of(plan, world)
    assert isinstance(found, Unbuilt)
    assert found.why == why
