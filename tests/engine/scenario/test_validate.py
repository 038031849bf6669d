"""Every refusal: the equation with its numbers, and the nearest valid choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scaletui_engine.catalog import load_gpu
from scaletui_engine.cluster import Cluster
from scaletui_engine.defaults import Choices, PlanChoices, plan_from, scenario_from
from scaletui_engine.errors import ScenarioError
from scaletui_engine.model import Arch, Model, Moe
from scaletui_engine.plan import Axes, Offload, Plan, Split, Strategy
from scaletui_engine.runtime import Framework, Runtime
from scaletui_engine.scenario import Scenario
from scaletui_engine.validate import problem, validate


def _choices(model: str, gpus: int, **more: Any) -> Choices:
    return Choices(model, "h100", gpus, **more)


VALID = [
    ("defaults", _choices("llama3-8b", 8)),
    ("one-gpu", _choices("gpt2-124m", 1)),
    ("kv-heads-replicated", _choices("llama3-70b", 16, tp=16)),
    ("hsdp", _choices("llama3-8b", 16, strategy=Strategy.HSDP)),
    ("hsdp-one-shard", _choices("llama3-8b", 8, strategy=Strategy.HSDP, dp_replicate=8)),
    ("fsdp1-hybrid", _choices("llama3-8b", 8, strategy=Strategy.FSDP1, dp_replicate=2)),
    ("head-tail-cp", _choices("llama3-8b", 8, cp=4)),
    ("latent-attention-tp", _choices("deepseek-v3", 16, tp=16)),
    ("ep-over-cp-and-tp", _choices("mixtral-8x7b", 8, cp=2, tp=2, ep=8)),
    ("gpipe-fewer-microbatches-than-ranks", _choices("llama3-8b", 4, pp=4, global_batch=1, schedule="gpipe")),
    (
        "torch-interleaved-two-rounds",
        _choices("llama3-8b", 4, pp=4, schedule="Interleaved1F1B", chunks=2, global_batch=10),
    ),
    ("dualpipe", _choices("llama3-8b", 4, pp=4, schedule="dualpipe", global_batch=8)),
    ("uneven-explicit", _choices("llama3-8b", 4, pp=4, layer_split=(7, 8, 9, 8), global_batch=4)),
    ("learned-positions-full", _choices("gpt2-124m", 1, seq=1024)),
]


@pytest.mark.parametrize("choices", [row[1] for row in VALID], ids=[row[0] for row in VALID])
def test_valid(choices: Choices) -> None:
    assert problem(scenario_from(choices)) is None


REFUSED = [
    (
        "world",
        _choices("llama3-8b", 16, tp=3, pp=2, dp_shard=4),
        "dp 4 x tp 3 x pp 2 = 24, but the cluster has 16 GPUs; nearest valid: tp 2",
    ),
    (
        "world-dp-follows",
        _choices("llama3-8b", 8, tp=3, dp_shard=8),
        "dp 8 x tp 3 = 24, but the cluster has 8 GPUs; nearest valid: tp 2, dp 4",
    ),
    (
        "world-hsdp",
        _choices("llama3-8b", 16, dp_replicate=2, dp_shard=4, strategy=Strategy.HSDP),
        "dp_replicate 2 x dp_shard 4 = 8, but the cluster has 16 GPUs; "
        "nearest valid: dp_replicate 2, dp_shard 8",
    ),
    (
        "world-one-axis",
        _choices("llama3-8b", 8, dp_shard=4),
        "dp 4, but the cluster has 8 GPUs; nearest valid: dp 8",
    ),
    (
        "world-hsdp-uneven",
        _choices("llama3-8b", 8, dp_replicate=3, strategy=Strategy.HSDP),
        "dp_replicate 3 x dp_shard 2 = 6, but the cluster has 8 GPUs; "
        "nearest valid: dp_replicate 2, dp_shard 4",
    ),
    (
        "heads",
        _choices("llama3-8b", 12, tp=3),
        "heads 32 / tp 3 = 10.67, not a whole number; nearest valid: tp 2",
    ),
    (
        "kv-heads",
        _choices("phi-4-14b", 8, tp=4),
        "kv heads 10 and tp 4: neither divides the other to split or copy evenly; nearest valid: tp 2",
    ),
    (
        "ffn",
        _choices("gemma3-1b", 16, tp=16),
        "heads 4 / tp 16 = 0.25, not a whole number; nearest valid: tp 4",
    ),
    (
        "layers",
        _choices("llama3-405b", 128, tp=8, pp=16, global_batch=16),
        "126 layers / 16 stages = 7.875, not a whole number; nearest valid: 14 stages, "
        'or layer_split "ends" (7, 8, ... 7)',
    ),
    (
        "more-stages-than-layers",
        _choices("gpt2-124m", 16, pp=16, global_batch=16),
        "pp 16 x chunks 1 = 16 stages > 12 layers; nearest valid: 12 stages",
    ),
    (
        "layer-split-empty-stage",
        _choices("gpt2-124m", 2, pp=2, layer_split=(0, 12), global_batch=2),
        "layer_split gives stage 0 0 layers",
    ),
    (
        "batch",
        _choices("llama3-8b", 8, micro_batch=2, global_batch=24),
        "global batch 24 / (micro-batch 2 x dp 8) = 1.5 accumulation steps, not a whole number; "
        "nearest valid: global batch 16",
    ),
    (
        "batch-too-small",
        _choices("llama3-8b", 8, global_batch=4),
        "global batch 4 / (micro-batch 1 x dp 8) = 0.5 accumulation steps, not a whole number; "
        "nearest valid: global batch 8",
    ),
    (
        "seq-over-model",
        _choices("llama3-8b", 8, seq=16384),
        "seq 16384 > 8192, the longest sequence of llama3-8b; nearest valid: seq 8192",
    ),
    (
        "seq-over-positions",
        _choices("gpt2-124m", 1, seq=2048),
        "seq 2048 > 1024, the longest sequence of gpt2-124m; nearest valid: seq 1024",
    ),
    (
        "cp-head-tail",
        _choices("llama3-8b", 8, cp=4, seq=4092),
        "seq 4092 / (2 x cp 4) is not a whole number; nearest valid: seq 4088",
    ),
    (
        "sp",
        _choices("llama3-8b", 8, tp=8, seq=4090),
        "seq 4090 / tp 8 is not a whole number; nearest valid: seq 4088",
    ),
    (
        "cp-and-sp",
        _choices("llama3-8b", 8, tp=2, cp=4, seq=8184),
        "seq 8184 / ((2 x cp 4) x tp 2) is not a whole number; nearest valid: seq 8176",
    ),
    (
        "ep-without-experts",
        _choices("llama3-8b", 8, ep=2),
        "ep 2, but llama3-8b has no experts; nearest valid: ep 1",
    ),
    (
        "ep-experts",
        _choices("mixtral-8x7b", 16, ep=16),
        "8 experts / ep 16 = 0.5, not a whole number; nearest valid: ep 8",
    ),
    (
        "ep-group",
        _choices("deepseek-v3", 12, ep=8),
        "dp_shard 12 x cp 1 x tp 1 = 12, which ep 8 does not divide; nearest valid: ep 4",
    ),
    (
        "etp",
        _choices("mixtral-8x7b", 8, ep=8, runtime=Runtime(etp=2)),
        "dp_shard 8 x cp 1 x tp 1 = 8, which ep 8 x etp 2 does not divide; nearest valid: etp 1",
    ),
    (
        "ddp-sharded",
        _choices("llama3-8b", 8, strategy=Strategy.DDP, dp_replicate=2, dp_shard=4),
        "ddp shards nothing, but dp_shard = 4; nearest valid: dp_replicate 8, dp_shard 1",
    ),
    (
        "fsdp-replicated",
        _choices("llama3-8b", 8, dp_replicate=2),
        "fsdp shards over all of dp, but dp_replicate = 2; "
        "nearest valid: dp_replicate 1, dp_shard 8, or strategy hsdp",
    ),
    (
        "hsdp-alone",
        _choices("llama3-8b", 1, strategy=Strategy.HSDP),
        "hsdp needs dp >= 2, but dp_replicate 1 x dp_shard 1 = 1; nearest valid: strategy fsdp",
    ),
    (
        "zero3-pipeline",
        _choices("llama3-8b", 8, pp=2, strategy=Strategy.ZERO3),
        "zero3 with pp 2: DeepSpeed's pipeline engine keeps gradients whole; nearest valid: strategy zero1",
    ),
    (
        "offload-whole-weights",
        _choices("llama3-8b", 8, strategy=Strategy.DDP, offload=Offload.PARAMS),
        "offload params with ddp: only sharded weights are gathered from host memory; "
        "nearest valid: strategy fsdp, or offload optimizer",
    ),
    (
        "chunks-without-pipeline",
        _choices("llama3-8b", 8, chunks=2),
        "chunks 2 with pp 1: nothing to interleave; nearest valid: chunks 1",
    ),
    (
        "interleaved-one-chunk",
        _choices("llama3-8b", 4, pp=4, schedule="interleaved-1f1b", global_batch=4),
        "interleaved-1f1b needs chunks >= 2, but chunks = 1; nearest valid: chunks 2",
    ),
    (
        "1f1b-two-chunks",
        _choices("llama3-8b", 4, pp=4, chunks=2, global_batch=4),
        "1f1b needs chunks <= 1, but chunks = 2; nearest valid: chunks 1",
    ),
    (
        "megatron-interleaved-groups",
        _choices("llama3-8b", 4, pp=4, schedule="interleaved-1f1b", chunks=2, global_batch=6),
        "interleaved-1f1b needs microbatches in groups of pp = 4, but global batch 6 / (micro-batch 1 x dp 1)"
        " = 6 microbatches over pp 4; nearest valid: global batch 4",
    ),
    (
        "torch-interleaved-rounds",
        _choices("llama3-8b", 4, pp=4, schedule="Interleaved1F1B", chunks=2, global_batch=9),
        "Interleaved1F1B needs microbatches in 2 equal rounds (microbatches // pp), but global batch 9 / "
        "(micro-batch 1 x dp 1) = 9 microbatches over pp 4; nearest valid: global batch 8",
    ),
    (
        "torchtitan-775-torch-1f1b",
        _choices("llama3-8b", 4, pp=4, schedule="1F1B", global_batch=2),
        "1F1B needs at least pp = 4 microbatches, but global batch 2 / (micro-batch 1 x dp 1) = 2 "
        "microbatches over pp 4; nearest valid: global batch 4",
    ),
    (
        "dualpipe-odd-ranks",
        _choices("llama3-8b", 3, pp=3, schedule="dualpipe", global_batch=6, layer_split=Split.FRONT),
        "dualpipe needs an even pp, but pp = 3; nearest valid: pp 4",
    ),
    (
        "dualpipe-few-microbatches",
        _choices("llama3-8b", 4, pp=4, schedule="dualpipe", global_batch=6),
        "dualpipe needs at least 2 x pp = 8 microbatches, but global batch 6 / (micro-batch 1 x dp 1) = 6 "
        "microbatches over pp 4; nearest valid: global batch 8",
    ),
    (
        "vocabulary-multiple",
        _choices("gpt2-124m", 4, tp=4, runtime=Runtime(vocab_multiple=3)),
        "vocabulary 50257 padded to 50259 (a multiple of 3) / tp 4 is not a whole number; "
        "nearest valid: vocab_multiple 4",
    ),
    (
        "unknown-precision",
        _choices("llama3-8b", 8, precision="bf16"),
        "unknown precision 'bf16', did you mean 'bf16-mixed'?",
    ),
    (
        "unknown-optimizer",
        _choices("llama3-8b", 8, optimizer="adamW"),
        "unknown optimizer 'adamW', did you mean 'adamw'?",
    ),
    (
        "unknown-schedule",
        _choices("llama3-8b", 8, schedule="1f1B"),
        "unknown schedule '1f1B', did you mean '1f1b'?",
    ),
]


@pytest.mark.parametrize(("choices", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(choices: Choices, words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        validate(scenario_from(choices))
    assert str(refusal.value) == words


OPEN = [
    (
        "tp",
        _choices("llama3-8b", 16, tp=3),
        "tp 3 does not divide the cluster's 16 GPUs; nearest valid: tp 2",
    ),
    (
        "tp-pp",
        _choices("llama3-8b", 16, tp=3, pp=2),
        "tp 3 x pp 2 = 6, which does not divide the cluster's 16 GPUs; nearest valid: tp 2",
    ),
    (
        "digits",
        _choices("llama3-8b", 16, tp=10**500),
        f"tp 1{'0' * 19}... does not divide the cluster's 16 GPUs; nearest valid: tp 16",
    ),
    (
        "more-gpus-than-can-be-divided-up",
        _choices("llama3-8b", 10**40, tp=7),
        f"gpus = 1{'0' * 19}... > 10000000; nearest valid: gpus 10000000",
    ),
    (
        "too-many",
        _choices("llama3-8b", 4, tp=8),
        "tp 8 does not divide the cluster's 4 GPUs; nearest valid: tp 4",
    ),
]


@pytest.mark.parametrize(("choices", "words"), [row[1:] for row in OPEN], ids=[row[0] for row in OPEN])
def test_nothing_is_left_for_data_parallelism(choices: Choices, words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        scenario_from(choices)
    assert str(refusal.value) == words


def test_accumulation_is_derived() -> None:
    plan = Plan(Axes(dp_shard=8), micro_batch=2, global_batch=64)
    assert plan.accumulation == 4


SMALL = Arch(layers=1, hidden=12, heads=4, kv_heads=1, head_dim=3, ffn=16, vocab=64)


@pytest.mark.parametrize(
    ("arch", "framework", "message"),
    [
        (
            SMALL,
            Framework.MEGATRON,
            "(heads 4 + 2 x kv heads 1) x head dim 3 / tp 4 = 4.5, not a whole number; nearest valid: tp 2",
        ),
        (SMALL, Framework.TORCH, None),
        (
            replace(SMALL, moe=Moe(experts=4, topk=2, ffn=6)),
            Framework.TORCH,
            "expert ffn 6 / tp 4 = 1.5, not a whole number; nearest valid: tp 2",
        ),
        (replace(SMALL, moe=Moe(experts=4, topk=2, ffn=8)), Framework.TORCH, None),
    ],
)
def test_widths_that_tp_cuts(arch: Arch, framework: Framework, message: str | None) -> None:
    """Megatron's fused rows, and experts, which keep all of tp where ep is 1."""
    model, cluster = Model("tiny", "test", arch, None, "made for tests"), Cluster(load_gpu("h100-sxm"), 4)
    plan = plan_from(PlanChoices(tp=4, seq=16, runtime=Runtime(framework=framework)), model, cluster)
    found = problem(Scenario(model, cluster, plan))
    assert (found if found is None else str(found)) == message
