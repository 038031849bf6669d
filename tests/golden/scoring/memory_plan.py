"""The plan a published record speaks of: axes, batch, precision, recompute, runtime switches."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from scoring.memory_fields import (
    Config,
    MissingFieldError,
    Record,
    degree,
    flag,
    need,
    number,
    positive,
    text,
    whole,
)
from scoring.memory_gpus import gpus_of
from scoring.memory_habits import habit
from scoring.memory_model import recipe_of
from scoring.memory_words import (
    dropout_of,
    every_of,
    exchange_of,
    loop_of,
    lora_of,
    megatron_precision,
    modules_of,
    optimizer_of,
    recompute_of,
    schedule_of,
    techniques_of,
    torch_precision,
)

from scaletui_engine.plan import Axes, Offload, Plan, Split, Strategy
from scaletui_engine.runtime import Attention, Framework, LossKernel, Runtime

if TYPE_CHECKING:
    from scaletui_engine.model import Arch


ONE_ROOT = ("in root fsdp unit", "in the root unit")
SPLIT_ROOT = ("lm_head is its own fsdp unit", "more memory efficient fsdp wrapping")
MEGATRON = (Framework.MEGATRON, Framework.MEGATRON_LEGACY)
OF_MEGATRON = ("megatron", "mbridge", "simumax", "mcore", "nemo", "transformerengine", "transformer engine")
PERFORMANCE = "nemo-mbridge-perf"
"""Megatron-Bridge's performance recipes reduce 16-bit gradients (perf_recipes/_common.py,
`grad_reduce_in_fp32 = False`)."""
TWO_CHUNKS = r"interleaved|looped|zb-?v|v-?half|v-?min|dualpipe-?v"
"""Schedules of several chunks a rank: as many as their reports have where they do not say."""
OF_HUGGING_FACE = (
    "torchtune", "peft", "hf", "hugging", "transformers", "accelerate", "trl", "axolotl", "unsloth",
    "llama-factory",
)  # fmt: skip


def plan_of(record: Record, arch: Arch) -> Plan:
    """The whole plan. Raises MissingFieldError."""
    config, framework = record.config, framework_of(record)
    axes, micro_batch = _axes(config), _micro_batch(config)
    microbatches = _microbatches(config, axes, micro_batch)
    chunks, strategy = _chunks(config, axes.pp, framework), _strategy(config, framework, axes)
    if strategy is Strategy.DDP:
        axes = replace(axes, dp_replicate=axes.dp, dp_shard=1)
    return Plan(
        axes=axes,
        strategy=strategy,
        precision=_precision(record, framework),
        optimizer=optimizer_of(config),
        recompute=recompute_of(config, framework),
        offload=_offload(config),
        reshard_after_forward=_reshards(config, axes),
        sequence_parallel=flag(config, "sequence_parallel", default=True),
        micro_batch=micro_batch,
        global_batch=micro_batch * axes.dp * microbatches,
        seq=_seq(config),
        schedule=schedule_of(config, chunks, framework),
        chunks=chunks,
        layer_split=_split(framework, axes, chunks, arch),
        lora=lora_of(config),
        runtime=runtime_of(record, framework),
    )


def framework_of(record: Record) -> Framework:
    """From the field, else from where the row was published. Raises MissingFieldError."""
    said = text(record.config, "framework")
    words = said or record.source.lower()
    if "deepspeed" in words or ("zero_stage" in record.config and not _megatron(said)):
        return Framework.DEEPSPEED
    if _megatron(words):
        return Framework.MEGATRON_LEGACY if "legacy" in words else Framework.MEGATRON
    if any(name in words for name in ("torchtitan", "torchao", "pytorch/ao")):
        return Framework.TORCH
    if any(name in words for name in OF_HUGGING_FACE):
        return Framework.HF
    if any(name in words for name in ("torch", "fsdp", "lightning", "litgpt")):
        return Framework.TORCH
    raise MissingFieldError("missing field framework" + (f" (none is called {said!r})" if said else ""))


def _megatron(words: str) -> bool:
    return any(name in words for name in OF_MEGATRON)


def _axes(config: Config) -> Axes:
    tp, pp, cp, replicas = (degree(config, name) for name in ("tp", "pp", "cp", "dp_replicate"))
    shard = whole(config, "fsdp", "dp_shard", "dp")
    if shard is None or shard < 1:
        gpus = gpus_of(config)
        if gpus is None:
            raise MissingFieldError("missing field dp (no count of GPUs either)")
        shard = max(gpus // (tp * pp * cp * replicas), 1)
    return Axes(tp, cp, degree(config, "ep"), pp, replicas, shard)


def _micro_batch(config: Config) -> int:
    if whole(config, "micro_batch", "mbs") is not None:
        return positive(config, "micro_batch", "mbs")
    local, count = whole(config, "local_batch"), whole(config, "num_microbatches")
    if local is None:
        raise MissingFieldError("missing field micro_batch")
    return max(local // count, 1) if count and count > 0 else 1


def _microbatches(config: Config, axes: Axes, micro_batch: int) -> int:
    local = whole(config, "local_batch")
    if local is not None:
        return max(local // micro_batch, 1)
    batch = whole(config, "global_batch")
    if batch is not None:
        return max(batch // (micro_batch * axes.dp), 1)
    return whole(config, "num_microbatches") or axes.pp


def _seq(config: Config) -> int:
    return need(config, "seq_len", "seq")


def _chunks(config: Config, pp: int, framework: Framework) -> int:
    chunks = whole(config, "vpp", "stages_per_rank", "virtual_pipeline")
    stages = whole(config, "stages")
    if chunks is None and stages is not None:
        chunks = stages // pp
    if chunks is None and re.search(TWO_CHUNKS, text(config, "schedule")):
        chunks = 2
    return chunks or 1


def _split(framework: Framework, axes: Axes, chunks: int, arch: Arch) -> Split:
    even = arch.layers % (axes.pp * chunks) == 0
    return Split.EVEN if even and framework in MEGATRON else Split.ENDS


def _strategy(config: Config, framework: Framework, axes: Axes) -> Strategy:
    stage = _zero_stage(config)
    if stage is not None:
        return (Strategy.DDP, Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)[stage]
    if framework in MEGATRON:
        return Strategy.ZERO1 if flag(config, "distributed_optimizer", default=True) else Strategy.DDP
    words = text(config, "strategy", "fsdp_version")
    if words.startswith("ddp") or (axes.dp * axes.cp == 1 and axes.pp == 1):
        return Strategy.DDP
    if "fsdp1" in words:
        return Strategy.FSDP1
    return Strategy.HSDP if axes.dp_replicate > 1 else Strategy.FSDP


def _zero_stage(config: Config) -> int | None:
    """0 to 3, from a number or from "ZeRO-3". Raises MissingFieldError for another."""
    found = whole(config, "zero_stage")
    match = re.search(r"(\d)\s*$", text(config, "zero_stage"))
    stage = int(match[1]) if found is None and match else found
    if stage is not None and not 0 <= stage <= 3:
        raise MissingFieldError(f"missing field zero_stage ({stage} is none of 0 to 3)")
    return stage


def _precision(record: Record, framework: Framework) -> str:
    config = record.config
    if framework in MEGATRON:
        usual = "zero" if PERFORMANCE in record.source else "megatron"
        return megatron_precision(config, str(recipe_of(config).get("precision", usual)))
    if framework is Framework.DEEPSPEED:
        return "fp32" if "32" in text(config, "param_dtype") else "bf16-mixed"
    # torchtitan's training.dtype is float32 unless a job sets it.
    usual = {"param_dtype": "fp32"} if "torchtitan" in record.text else {}
    return torch_precision({**usual, **config} if text(config, "param_dtype") else {**config, **usual})


def _offload(config: Config) -> Offload:
    if flag(config, "offload_param") or flag(config, "cpu_offload"):
        return Offload.PARAMS
    return Offload.OPTIMIZER if flag(config, "offload_optimizer") else Offload.NONE


def _reshards(config: Config, axes: Axes) -> bool:
    words = text(config, "reshard_after_forward", "reshard")
    if words in ("", "default") and config.get("reshard_after_forward") is not False:
        return axes.pp == 1
    return words not in ("", "never", "false", "off", "no")


def runtime_of(record: Record, framework: Framework) -> Runtime:
    """The switches of the framework."""
    config = record.config
    techniques = techniques_of(config)
    traced = "simple" in text(config, "fsdp_version") or "aot" in text(config, "compile")
    model = flag(config, "compile") and not re.fullmatch(r"\W*loss( only)?\W*", text(config, "compile"))
    compiled = model or "+compile" in techniques or traced
    legacy = framework is Framework.MEGATRON_LEGACY
    return Runtime(
        framework=framework,
        attention=Attention.UNFUSED
        if text(config, "attention") in ("eager", "unfused", "math")
        else Attention.FLASH,
        loss=_loss(record, techniques),
        optimizer_loop=loop_of(config, habit(record, "optimizer_impl"), traced=traced),
        optimizer_in_backward="optimizer in backward" in techniques,
        compile=compiled,
        dropout=dropout_of(config, default=legacy),
        fused_mlp=config.get("swiglu_fused", False if legacy else None),
        cp_exchange=exchange_of(config),
        float8=flag(config, "float8") or flag(config, "fp8"),
        float8_weights=_holds_eight_bits(record),
        recompute_modules=modules_of(config),
        recompute_every=every_of(config),
        recompute_layers=whole(config, "recompute_layers", "recompute_num_layers"),
        activation_offload=flag(config, "activation_offload") or "activation offloading" in techniques,
        reshard_last="always" in text(config, "reshard") or _reshards_last(record),
        split_root=_splits_root(record),
        traced=traced,
        return_outputs=bool(habit(record, "return_outputs")),
        repeat_kv="torchtune" in text(config, "framework"),
        gradient_fusion=flag(config, "grad_accum_fusion", default=True),
        etp=whole(config, "etp") or recipe_of(config).get("etp"),
        capacity_factor=number(config, "moe_capacity_factor", 1.0),
    )


def _splits_root(record: Record) -> bool:
    """Whether embedding and output projection are units of their own, as the row or its time says."""
    words = f"{record.source} {record.notes}".lower()
    if any(said in words for said in ONE_ROOT):
        return False
    return any(said in words for said in SPLIT_ROOT) or bool(habit(record, "split_root"))


def _reshards_last(record: Record) -> bool:
    """What keeps the output whole instead of the last layer does so since embedding and output are units."""
    return bool(habit(record, "split_root")) or SPLIT_ROOT[0] in record.notes.lower()


def _holds_eight_bits(record: Record) -> bool:
    """Megatron-Bridge's FP8 recipes gather 8-bit weights, all but the one that scales by block.

    Source: NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/training/mixed_precision.py.
    """
    recipe = text(record.config, "fp8")
    return "megatron-bridge" in record.source.lower() and bool(recipe) and "block" not in recipe


def _loss(record: Record, techniques: str) -> LossKernel:
    config = record.config
    words = text(config, "loss") or habit(record, "loss")
    if "te fused" in text(config, "cross_entropy"):
        return LossKernel.FUSED
    if "chunked ce" in techniques:
        return LossKernel.CHUNKED_HEAD
    if "chunked" in words and not re.search(r"un-?chunked|not chunked", words):
        return LossKernel.CHUNKED_HEAD if "inside" in words else LossKernel.CHUNKED
    if words.startswith("compiled"):
        return LossKernel.COMPILED
    if "model returned" in words:
        return LossKernel.UPCAST_KEPT
    if words or "replicated" in text(config, "logits"):
        return LossKernel.UPCAST
    return LossKernel.AUTO
