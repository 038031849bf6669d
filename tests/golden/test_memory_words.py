"""How the scorer reads the words of a published record: what they mean, and what is named as missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

GOLDEN = Path(__file__).parent
sys.path.insert(0, str(GOLDEN))

from scoring.memory_fields import MissingFieldError, record_of, whole  # noqa: E402
from scoring.memory_gates import is_faulty  # noqa: E402
from scoring.memory_gpus import capacity_of, gpus_of  # noqa: E402
from scoring.memory_habits import published  # noqa: E402
from scoring.memory_measured import measured, quantity_of, scenario_of  # noqa: E402
from scoring.memory_model import named_arch  # noqa: E402

from scaletui_engine.catalog import load_gpu  # noqa: E402
from scaletui_engine.plan import Recompute, Strategy  # noqa: E402
from scaletui_engine.runtime import CpExchange, LossKernel, OptimizerLoop  # noqa: E402
from scaletui_engine.tensors import count_parameters  # noqa: E402
from scaletui_engine.units import GIB  # noqa: E402

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads((GOLDEN / "memory.json").read_text("utf-8"))
}
TITAN, MEGATRON, GIST = (
    "titan-822-default",
    "megatron-pr482-7b-dp8pp1tp1-mbs2",
    "ds-gist-7b-z3-ck1-oo0-po0-zpp0-b8-g64",
)


def _scenario(name: str, change: dict[str, Any]) -> Scenario:
    row = ROWS[name]
    return scenario_of(record_of({**row, "config": {**row["config"], **change}}))


PLANS = [
    (TITAN, {"optimizer": "PagedAdamW8bit"}, "optimizer", "adam8bit"),
    (TITAN, {"optimizer": "SGD, momentum 0.9"}, "optimizer", "momentum"),
    (TITAN, {"optimizer": "Muon"}, "optimizer", "muon"),
    (TITAN, {"optimizer": "Adafactor"}, "optimizer", "adafactor"),
    (TITAN, {"optimizer": "Lion"}, "optimizer", "lion"),
    (GIST, {"optimizer": "DeepSpeedCPUAdam"}, "optimizer", "adamw"),
    (TITAN, {"ac": False}, "recompute", Recompute.NONE),
    (TITAN, {"ac": "none (disabled)"}, "recompute", Recompute.NONE),
    (TITAN, {"ac": "checkpoint every block"}, "recompute", Recompute.FULL),
    (TITAN, {"ac": "off"}, "recompute", Recompute.NONE),
    (TITAN, {"ac": "Full AC"}, "recompute", Recompute.FULL),
    (TITAN, {"ac": "selective (every 2nd layer)"}, "recompute", Recompute.FULL),
    (TITAN, {"ac": "SAC"}, "recompute", Recompute.SELECTIVE),
    (MEGATRON, {"recompute": "core_attn+mlp"}, "recompute", Recompute.SELECTIVE),
    (MEGATRON, {"recompute": "uniform"}, "recompute", Recompute.FULL),
    (TITAN, {"param_dtype": "bfloat16"}, "precision", "bf16-reduce-fp32"),
    (TITAN, {"param_dtype": "bf16 mixed precision"}, "precision", "bf16-mixed"),
    (TITAN, {"param_dtype": None}, "precision", "bf16-mixed"),
    (TITAN, {"param_dtype": "bfloat16", "reduce_dtype": "bf16"}, "precision", "bf16-pure"),
    (TITAN, {"param_dtype": "float32", "compute_dtype": "float16"}, "precision", "fp16-mixed"),
    (TITAN, {"compute_dtype": "fp32"}, "precision", "fp32"),
    (MEGATRON, {"main_grad": "bf16"}, "precision", "zero"),
    (GIST, {"zero_stage": 0}, "strategy", Strategy.DDP),
    (GIST, {"zero_stage": "ZeRO-2"}, "strategy", Strategy.ZERO2),
    (MEGATRON, {"use_distributed_optimizer": False}, "strategy", Strategy.DDP),
    (MEGATRON, {"zero_stage": 1}, "strategy", Strategy.ZERO1),
    (TITAN, {"fsdp": -1}, "strategy", Strategy.FSDP),
    (TITAN, {"reshard_after_forward": "never"}, "reshard_after_forward", False),
    (TITAN, {"reshard_after_forward": "default"}, "reshard_after_forward", True),
    (TITAN, {"seq_len": "8k"}, "seq", 8192),
    (TITAN, {"seq_len": "8,192"}, "seq", 8192),
    (TITAN, {"pp": 2, "fsdp": 4, "schedule": "ZBVZeroBubble", "num_microbatches": 4, "stages_per_rank": 2},
     "schedule", "ZBVZeroBubble"),
    (MEGATRON, {"pp": 2, "dp": 4, "schedule": "ZB-H1"}, "schedule", "zb-h1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "field", "value"), PLANS, ids=str)
def test_a_plan_reads_what_the_record_says(
    name: str, change: dict[str, Any], field: str, value: object
) -> None:
    assert getattr(_scenario(name, change).plan, field) == value


RUNTIMES = [
    (TITAN, {"ac": "selective 2"}, "recompute_every", 2),
    (TITAN, {"optimizer_impl": "for-loop"}, "optimizer_loop", OptimizerLoop.SINGLE),
    (MEGATRON, {"dropout": 0.1}, "dropout", True),
    (MEGATRON, {"dropout": "0.0"}, "dropout", False),
    (TITAN, {"float8": "off"}, "float8", False),
    (TITAN, {"cp_comm": "all-gather"}, "cp_exchange", CpExchange.ALL_GATHER),
    (MEGATRON, {"recompute": "full", "recompute_num_layers": 4}, "recompute_layers", 4),
    (MEGATRON, {"recompute_modules": ["core_attn", "mlp"]}, "recompute_modules", ("core_attn", "mlp")),
]


@pytest.mark.parametrize(("name", "change", "field", "value"), RUNTIMES, ids=str)
def test_a_runtime_reads_what_the_record_says(
    name: str, change: dict[str, Any], field: str, value: object
) -> None:
    assert getattr(_scenario(name, change).plan.runtime, field) == value


REFUSED = [
    ({"optimizer": "Shampoo"}, "missing field optimizer"),
    ({"optimizer": "Adam-mini"}, "missing field optimizer"),
    ({"method": "DoRA"}, "missing field method"),
    ({"framework": "MaxText"}, "missing field framework .none is called 'maxtext'"),
    ({"ac": "memory budget 0.5"}, "missing field ac"),
    ({"pp": 2, "schedule": "Chimera"}, "missing field schedule"),
    ({"zero_stage": 4}, "missing field zero_stage"),
    ({"param_dtype": "int4"}, "missing field param_dtype"),
    ({"seq_len": "8.5"}, "missing field seq_len"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=str)
def test_what_is_not_modelled_is_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(MissingFieldError, match=words):
        _scenario(TITAN, change)


def test_experts_are_read_without_latent_attention() -> None:
    change = {"experts": 8, "topk": 2, "moe_ffn": 1024, "model": "a mixture", "framework": "Megatron Core"}
    moe = _scenario(MEGATRON, change).model.arch.moe
    assert moe is not None
    assert (moe.experts, moe.topk, moe.ffn) == (8, 2, 1024)


NAMES = [
    ("meta-llama/Llama-3.1-8B-Instruct", 8.03),
    ("meta-llama/Meta-Llama-3-8B", 8.03),
    ("Llama 3 8B", 8.03),
    ("llama3_8b", 8.03),
    ("llama-3_1-70b", 70.55),
    ("Llama3-405B", 405.85),
    ("LLaMA 7B", 6.74),
    ("huggyllama/llama-65b", 65.29),
    ("lmsys/vicuna-13b-v1.5", 13.02),
    ("codellama/CodeLlama-34b-Instruct-hf", 33.74),
    ("Llama 4 Scout", 107.77),
    ("mistralai/Mistral-7B-Instruct-v0.2", 7.24),
    ("Mixtral 8x22B", 140.62),
    ("Qwen/Qwen2.5-7B-Instruct", 7.62),
    ("Qwen2-7B", 7.62),
    ("Qwen2.5-Coder-7B", 7.62),
    ("Qwen/Qwen3-32B", 32.76),
    ("qwen3_14b", 14.77),
    ("deepseek_v3 16B", 15.71),
    ("deepseek-ai/DeepSeek-V2-Lite", 15.71),
    ("deepseek-ai/DeepSeek-V3", 671.03),
    ("Gemma-2-9B", 9.24),
    ("google/gemma-7b-it", 8.54),
    ("google/gemma-3-4b-pt", 3.88),
    ("microsoft/phi-4", 14.66),
    ("Phi-3-mini-4k-instruct", 3.82),
    ("tiiuae/falcon-7b", 6.92),
    ("bigscience/bloom-7b1", 7.07),
    ("GPT-2 XL", 1.56),
]


@pytest.mark.parametrize(("name", "billions"), NAMES)
def test_models_are_found_however_they_are_written(name: str, billions: float) -> None:
    """By the parameters that their publishers count."""
    arch = named_arch(name.lower())
    assert arch is not None
    assert count_parameters(arch).total / 1e9 == pytest.approx(billions, rel=2e-3)


@pytest.mark.parametrize("name", ["gemma", "Phi", "bert-large", "bigscience/T0_3B", "", "a model of ours"])
def test_a_family_is_no_model(name: str) -> None:
    assert named_arch(name.lower()) is None


def test_adapters_have_the_rank_and_the_targets_of_the_record() -> None:
    change = {"method": "QLoRA", "lora_rank": 16, "target_modules": ["q_proj", "down_proj"]}
    lora = _scenario(TITAN, change).plan.lora
    assert lora is not None
    assert (lora.rank, lora.targets, lora.quantized) == (16, ("wq", "w2"), True)


@pytest.mark.parametrize(
    ("gpu", "count"),
    [
        ("8x H100", 8),
        ("8*H100", 8),
        ("16xB200", 16),
        ("64 H100 80GB", 64),
        ("H100 x 16", 16),
        ("H100 80GB", None),
        ("RTX 4090", None),
        ("1x RTX 4090", 1),
        ("2x 24GB", 2),
        ("2x8 H100", 16),
        ("2 nodes x 8 H100", 16),
        ("4 nodes of 8x A100 80GB", 32),
    ],
)
def test_gpus_are_counted_however_they_are_written(gpu: str, count: int | None) -> None:
    assert gpus_of({"gpu": gpu}) == count


@pytest.mark.parametrize(
    ("gpu", "quantity", "gib"),
    [("8x H100 95GiB", "OOM", 95), ("8x H100", "OOM on 94.5 GiB", 94.5), ("a machine", "OOM", None)],
)
def test_capacity_is_what_the_row_says(gpu: str, quantity: str, gib: float | None) -> None:
    found = capacity_of(record_of({"config": {"gpu": gpu}, "quantity": quantity}))
    assert found == (None if gib is None else gib * GIB)


@pytest.mark.parametrize(
    ("gpu", "known"),
    [
        ("8x B200", "b200"),
        ("8x NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("64 H100 GPUs", "h100-sxm"),
        ("8 H100s", "h100-sxm"),
        ("4 A100 (80GB)", "a100-sxm-80"),
        ("2 nodes x 8 H200 141GB", "h200-sxm"),
        ("1x RTX 4090", "rtx4090"),
    ],
)
def test_capacity_is_the_catalogues_where_the_row_names_only_the_gpu(gpu: str, known: str) -> None:
    found = capacity_of(record_of({"config": {"gpu": gpu}, "quantity": "OOM"}))
    assert found == load_gpu(known).capacity_bytes


@pytest.mark.parametrize(
    ("words", "quantity"),
    [
        ("max memory reserved", "reserved"),
        ("NVML used", "driver"),
        ("peak memory active", "allocated"),
        ("host RAM used", "host"),
    ],
)
def test_quantities_are_told_apart(words: str, quantity: str) -> None:
    assert quantity_of(record_of({"quantity": words})) == quantity


@pytest.mark.parametrize(("value", "number"), [("0.1", None), (2.0, 2), ("4/8/32 (same)", 4), (True, None)])
def test_whole_numbers_alone_are_whole(value: object, number: int | None) -> None:
    assert whole({"it": value}, "it") == number


@pytest.mark.parametrize(
    ("notes", "is_reported"),
    [("an upstream bug", True), ("leaks a layer", True), ("debugmodel flavor", False), ("", False)],
)
def test_rows_about_a_bug_are_reported(notes: str, is_reported: bool) -> None:
    assert is_faulty(record_of({"notes": notes})) is is_reported


def test_a_row_about_the_states_need_not_say_its_batch() -> None:
    row = ROWS["titan-822-model-only"]
    spoken = {name: row["config"][name] for name in ("model", "framework", "param_dtype", "fsdp", "gpu")}
    whole_row, short = (measured(record_of({**row, "config": config})) for config in (row["config"], spoken))
    assert whole_row.value == short.value


@pytest.mark.parametrize(("unit", "size"), [("MB", 10**6), ("GiB", GIB), ("TB", 10**12)])
def test_units_of_memory(unit: str, size: int) -> None:
    assert record_of({"unit": unit}).unit_bytes == size


def test_another_unit_is_named() -> None:
    with pytest.raises(MissingFieldError, match="missing field unit"):
        _ = record_of({"unit": "pages"}).unit_bytes


HABITS = [
    ("pytorch/torchtitan commit d9bdfbb20 (#1881)", "2025-11-15"),
    ("pytorch/torchtitan commit 9dc418a8b", "2024-07-18"),
    ("pytorch/torchtitan benchmarks/llama3_h100_202412_torchtitan.md", "2024-12-31"),
    ("pytorch/torchtitan commit 1234abc (#1700, 2025-09-20)", "2025-09-20"),
    ("pytorch/torchtitan commit 1234abc (#1700)", "2025-09-17"),
    ("pytorch/torchtitan commit 1234abc", None),
    ("huggingface/trl #1881", None),
]


@pytest.mark.parametrize(("source", "day"), HABITS)
def test_a_row_has_the_day_that_its_source_says(source: str, day: str | None) -> None:
    assert published(record_of({"source": source})) == day


@pytest.mark.parametrize(
    ("source", "change", "field", "value"),
    [
        ("torchtitan 2024-03", {}, "loss", LossKernel.UPCAST_KEPT),
        ("torchtitan 2024-07", {}, "loss", LossKernel.AUTO),
        ("torchtitan 2024-12-20", {"compile": True}, "loss", LossKernel.AUTO),
        ("torchtitan 2025-06", {"compile": True}, "loss", LossKernel.COMPILED),
        ("torchtitan 2025-06", {"compile": "model and loss"}, "loss", LossKernel.COMPILED),
        ("torchtitan 2025-06", {"compile": "model only"}, "loss", LossKernel.AUTO),
        ("torchtitan 2025-06", {"compile": "model only"}, "compile", True),
        ("torchtitan 2025-09", {"compile": "['loss']"}, "loss", LossKernel.COMPILED),
        ("torchtitan 2025-09", {"compile": "['loss']"}, "compile", False),
        ("torchtitan 2025-06", {"compile": True, "loss": "unchunked CE"}, "loss", LossKernel.UPCAST),
        ("torchtitan 2026-05", {}, "loss", LossKernel.CHUNKED_HEAD),
        ("torchtitan 2026-05", {"compile": "aot_fx_trace"}, "loss", LossKernel.AUTO),
        ("torchtitan 2026-08", {"compile": "aot_fx_trace"}, "loss", LossKernel.CHUNKED_HEAD),
        ("torchtitan 2025-01", {}, "optimizer_loop", OptimizerLoop.FOREACH),
        ("torchtitan 2025-03", {}, "optimizer_loop", OptimizerLoop.FUSED),
        ("torchtitan 2025-03", {"optimizer_impl": "foreach"}, "optimizer_loop", OptimizerLoop.FOREACH),
        ("torchtitan 2025-03", {}, "split_root", False),
        ("torchtitan 2025-09", {}, "split_root", True),
    ],
)
def test_what_a_row_leaves_out_was_so_at_its_time(
    source: str, change: dict[str, Any], field: str, value: object
) -> None:
    row = ROWS[TITAN]
    config = {key: entry for key, entry in row["config"].items() if key not in ("loss", "compile")}
    record = record_of({**row, "source": source, "notes": "", "config": {**config, **change}})
    assert getattr(scenario_of(record).plan.runtime, field) == value
