"""Numbers, switches and names that a scenario is refused for before any of its equations is looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scaletui_engine.defaults import Choices, scenario_from
from scaletui_engine.model import Moe
from scaletui_engine.runtime import Lora, Runtime
from scaletui_engine.validate import problem


def _choices(model: str, gpus: int, **more: Any) -> Choices:
    return Choices(model, "h100", gpus, **more)


NUMBERS = [
    ("zero", {"micro_batch": 0}, "micro_batch = 0 < 1; nearest valid: micro_batch 1"),
    ("negative", {"seq": -1}, "seq = -1 < 1; nearest valid: seq 1"),
    (
        "huge",
        {"global_batch": 10**12},
        "global_batch = 1000000000000 > 4294967296; nearest valid: global_batch 4294967296",
    ),
    ("boolean", {"chunks": True}, "chunks = True is not a whole number"),
    ("nan", {"seq": float("nan")}, "seq = nan is not a whole number"),
    ("fraction", {"micro_batch": 1.5}, "micro_batch = 1.5 is not a whole number"),
    ("text", {"seq": "4096"}, "seq = '4096' is not a whole number"),
    ("no-recipe", {"precision": None}, "precision = None is not a text"),
    ("no-optimizer", {"optimizer": 8}, "optimizer = 8 is not a text"),
    (
        "split",
        {"layer_split": (1.5,)},
        "layer_split = (1.5,) is not one of even, front, ends or a list of whole numbers",
    ),
    (
        "digits",
        {"seq": 10**5000},
        "seq = a number of over 2,000 digits > 4294967296; nearest valid: seq 4294967296",
    ),
]


@pytest.mark.parametrize(("change", "words"), [row[1:] for row in NUMBERS], ids=[row[0] for row in NUMBERS])
def test_numbers(change: dict[str, Any], words: str) -> None:
    scenario = scenario_from(_choices("llama3-8b", 8))
    assert str(problem(scenario.with_plan(replace(scenario.plan, **change)))) == words


@pytest.mark.parametrize("axis", ["tp", "cp", "ep", "pp", "dp_replicate", "dp_shard"])
@pytest.mark.parametrize("degree", [0, -2, True, 1 << 40])
def test_axes_are_whole_numbers_of_a_sensible_size(axis: str, degree: int) -> None:
    scenario = scenario_from(_choices("llama3-8b", 8))
    axes = replace(scenario.plan.axes, **{axis: degree})
    assert str(problem(scenario.with_plan(replace(scenario.plan, axes=axes)))).startswith(
        f"{axis} = {degree} "
    )


ARCH = [
    ("no-heads", {"heads": 0}, "model.heads = 0 < 1; nearest valid: model.heads 1"),
    ("groups", {"kv_heads": 5}, "model.heads 32 / kv_heads 5 is not a whole number"),
    ("norms", {"norms_per_layer": 3}, "model.norms_per_layer 3 is not 1, 2 or 4"),
    ("huge", {"layers": 10**6}, "model.layers = 1000000 > 10000; nearest valid: model.layers 10000"),
    (
        "no-window",
        {"sliding_window": 0},
        "model.sliding_window = 0 < 1; nearest valid: model.sliding_window 1",
    ),
    (
        "windows-in-more-layers-than-there-are",
        {"sliding_layers": 33, "sliding_window": 64},
        "model.sliding_layers = 33 > 32; nearest valid: model.sliding_layers 32",
    ),
    (
        "chunk",
        {"chunk_attn_window": -1},
        "model.chunk_attn_window = -1 < 1; nearest valid: model.chunk_attn_window 1",
    ),
    ("nope", {"nope_every": 0}, "model.nope_every = 0 < 1; nearest valid: model.nope_every 1"),
    ("theta", {"rope_theta": -1.0}, "model.rope_theta = -1.0 is not a positive number"),
    ("nan", {"rope_theta": float("nan")}, "model.rope_theta = nan is not a positive number"),
    (
        "expert-groups",
        {"moe": Moe(8, 2, 64, groups=3)},
        "model.moe.experts 8 / groups 3 is not a whole number; nearest valid: model.moe.groups 2",
    ),
    (
        "reached-groups",
        {"moe": Moe(8, 2, 64, groups=4, topk_groups=5)},
        "model.moe.topk_groups = 5 > 4; nearest valid: model.moe.topk_groups 4",
    ),
    (
        "groups-of-none",
        {"moe": Moe(8, 2, 64, groups=0)},
        "model.moe.groups = 0 < 1; nearest valid: model.moe.groups 1",
    ),
    ("window", {"sliding_window": "wide"}, "model.sliding_window = 'wide' is not a whole number"),
    ("gated", {"gated": 1}, "model.gated = 1 is not true or false"),
    ("norm", {"norm": "rmsnorm"}, "model.norm = 'rmsnorm' is not one of rmsnorm, layernorm"),
]


@pytest.mark.parametrize(("change", "words"), [row[1:] for row in ARCH], ids=[row[0] for row in ARCH])
def test_architectures(change: dict[str, Any], words: str) -> None:
    scenario = scenario_from(_choices("llama3-8b", 8))
    model = replace(scenario.model, arch=replace(scenario.model.arch, **change))
    assert str(problem(replace(scenario, model=model))) == words


@pytest.mark.parametrize("longest", [0, -1, 1 << 33])
def test_the_longest_sequence_of_a_model_is_one(longest: int) -> None:
    scenario = scenario_from(_choices("llama3-8b", 8))
    model = replace(scenario.model, max_seq=longest)
    assert str(problem(replace(scenario, model=model))).startswith(f"model.max_seq = {longest} ")


SWITCHES = [
    ("zero", {"loss_chunks": 0}, "runtime.loss_chunks = 0 < 1; nearest valid: runtime.loss_chunks 1"),
    (
        "multiple",
        {"vocab_multiple": 0},
        "runtime.vocab_multiple = 0 < 1; nearest valid: runtime.vocab_multiple 1",
    ),
    ("factor", {"imbalance": 0.0}, "runtime.imbalance = 0.0 is not a positive number"),
    ("nan", {"capacity_factor": float("nan")}, "runtime.capacity_factor = nan is not a positive number"),
    ("inf", {"imbalance": float("inf")}, "runtime.imbalance = inf is not a positive number"),
    (
        "huge",
        {"capacity_factor": 1e30},
        "runtime.capacity_factor = 1e+30 > 65536; nearest valid: runtime.capacity_factor 65536",
    ),
    ("text", {"imbalance": "2"}, "runtime.imbalance = '2' is not a finite number"),
    ("list", {"recompute_modules": None}, "runtime.recompute_modules = None is not a list of texts"),
    ("items", {"recompute_modules": (1,)}, "runtime.recompute_modules = (1,) is not a list of texts"),
    ("switch", {"fused_mlp": 1}, "runtime.fused_mlp = 1 is not true or false"),
    ("maybe", {"fused_norm": 0.0}, "runtime.fused_norm = 0.0 is not true or false"),
    ("word", {"compile": "yes"}, "runtime.compile = 'yes' is not true or false"),
    (
        "choice",
        {"router_weights": "activation"},
        "runtime.router_weights = 'activation' is not one of output, activation",
    ),
    ("tile", {"float8_tile": 0}, "runtime.float8_tile = 0 < 1; nearest valid: runtime.float8_tile 1"),
    ("block", {"float8_saved": ("mlps",)}, "unknown block 'mlps', did you mean 'mlp'?"),
    (
        "bits",
        {"attention_output_bits": 64},
        "runtime.attention_output_bits = 64 > 32; nearest valid: runtime.attention_output_bits 32",
    ),
    (
        "module",
        {"recompute_modules": ("core_atn",)},
        "unknown recompute module 'core_atn', did you mean 'core_attn'?",
    ),
]


@pytest.mark.parametrize(("change", "words"), [row[1:] for row in SWITCHES], ids=[row[0] for row in SWITCHES])
def test_switches(change: dict[str, Any], words: str) -> None:
    assert str(problem(scenario_from(_choices("llama3-8b", 8, runtime=Runtime(**change))))) == words


TRAINED = [
    ("target", {"lora": Lora(targets=("wqq",))}, "unknown lora target 'wqq', did you mean 'wq'?"),
    ("rank", {"lora": Lora(rank=0)}, "lora.rank = 0 < 1; nearest valid: lora.rank 1"),
    (
        "frozen",
        {"frozen": ("embeding",)},
        "unknown frozen role or tensor 'embeding', did you mean 'embedding'?",
    ),
    (
        "good",
        {"frozen": ("embedding", "layers.{layer}.attention"), "lora": Lora(targets=("w1", "wo"))},
        "None",
    ),
]


@pytest.mark.parametrize(("change", "words"), [row[1:] for row in TRAINED], ids=[row[0] for row in TRAINED])
def test_what_is_trained(change: dict[str, Any], words: str) -> None:
    assert str(problem(scenario_from(_choices("llama3-8b", 8, **change)))) == words


CLUSTERS = [
    ("host", {"host_memory_bytes": 0}, {}, "host_memory_bytes = 0 < 1; nearest valid: host_memory_bytes 1"),
    ("domain", {"nvlink_domain": 0}, {}, "nvlink_domain = 0 < 1; nearest valid: nvlink_domain 1"),
    (
        "flops",
        {},
        {"peak_flops": (("bf16", -1.0),)},
        "gpu.peak_flops.bf16 = -1.0 is not a positive number",
    ),
    ("memory", {}, {"memory_bytes": -1}, "gpu.memory_bytes = -1 < 1; nearest valid: gpu.memory_bytes 1"),
    (
        "bandwidth",
        {},
        {"nvlink_bandwidth": 0.0},
        "gpu.nvlink_bandwidth = 0.0 is not a positive number of bytes a second",
    ),
]


@pytest.mark.parametrize(
    ("change", "gpu", "words"), [row[1:] for row in CLUSTERS], ids=[row[0] for row in CLUSTERS]
)
def test_clusters(change: dict[str, Any], gpu: dict[str, Any], words: str) -> None:
    scenario = scenario_from(_choices("llama3-8b", 8))
    cluster = replace(scenario.cluster, gpu=replace(scenario.cluster.gpu, **gpu), **change)
    assert str(problem(replace(scenario, cluster=cluster))) == words


def test_a_cluster_knows_its_nodes_and_its_nvlink_domain() -> None:
    cluster = scenario_from(Choices("llama3-8b", "gb200", 144, gpus_per_node=4)).cluster
    assert (cluster.nodes, cluster.domain) == (36, 72)
    assert replace(cluster, gpus=6, nvlink_domain=4).domain == 4
    assert replace(cluster, gpus=6).nodes == 2
