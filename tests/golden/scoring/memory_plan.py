"""The plan a published record speaks of: axes, batch, precision, recompute, runtime switches."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.memory_fields import Config, MissingFieldError, Record, flag, need, text, whole
from scoring.memory_model import recipe_of

from scaletui_engine.plan import Axes, Offload, Plan, Recompute, Split, Strategy
from scaletui_engine.runtime import Attention, CpExchange, Framework, Lora, LossKernel, OptimizerLoop, Runtime

if TYPE_CHECKING:
    from scaletui_engine.model import Arch


SPLIT_ROOT = ("lm_head is its own fsdp unit", "more memory efficient fsdp wrapping")
HABITS = json.loads((Path(__file__).parents[1] / "memory_models.json").read_text("utf-8"))["habits"]


def habit(record: Record, field: str) -> str:
    """What the code at the commit that a row names is known to do, where the row does not say."""
    found = (entry for commit, entry in HABITS.items() if commit in record.source)
    entry: dict[str, str] = next(found, {})
    return str(entry.get(field, ""))


MEGATRON = (Framework.MEGATRON, Framework.MEGATRON_LEGACY)


def plan_of(record: Record, arch: Arch) -> Plan:
    """The whole plan. Raises MissingFieldError."""
    config, framework = record.config, framework_of(record)
    axes, micro_batch = _axes(config), _micro_batch(config)
    microbatches = _microbatches(config, axes, micro_batch)
    chunks = _chunks(config, axes.pp, framework)
    return Plan(
        axes=axes,
        strategy=_strategy(config, framework, axes),
        precision=_precision(config, framework),
        optimizer=_optimizer(config),
        recompute=_recompute(config, framework),
        offload=_offload(config),
        reshard_after_forward=_reshards(config, axes),
        sequence_parallel=flag(config, "sequence_parallel", default=True),
        micro_batch=micro_batch,
        global_batch=micro_batch * axes.dp * microbatches,
        seq=_seq(config),
        schedule=_schedule(config, chunks),
        chunks=chunks,
        layer_split=_split(framework, axes, chunks, arch),
        lora=_lora(config),
        runtime=runtime_of(record, framework),
    )


def framework_of(record: Record) -> Framework:
    """From the field, else from where the row was published. Raises MissingFieldError."""
    words = text(record.config, "framework") or record.source.lower()
    if "zero_stage" in record.config or "deepspeed" in words:
        return Framework.DEEPSPEED
    if "megatron" in words or "mbridge" in words or "simumax" in words:
        return Framework.MEGATRON_LEGACY if "legacy" in words else Framework.MEGATRON
    if any(name in words for name in ("torchtitan", "torchao", "pytorch/ao")):
        return Framework.TORCH
    if any(name in words for name in ("torchtune", "peft", "hf")):
        return Framework.HF
    raise MissingFieldError("missing field framework")


def gpus_of(config: Config) -> int | None:
    """GPUs of the job, from "8x H100 96GB"."""
    match = re.match(r"\s*(\d+)\s*x", text(config, "gpu"))
    return int(match[1]) if match else whole(config, "gpus", "world")


def _axes(config: Config) -> Axes:
    tp, pp, cp = (whole(config, name) or 1 for name in ("tp", "pp", "cp"))
    shard = whole(config, "fsdp", "dp_shard", "dp")
    if shard is None:
        gpus = gpus_of(config)
        if gpus is None:
            raise MissingFieldError("missing field dp (no count of GPUs either)")
        shard = max(gpus // (tp * pp * cp), 1)
    return Axes(tp, cp, whole(config, "ep") or 1, pp, whole(config, "dp_replicate") or 1, shard)


def _micro_batch(config: Config) -> int:
    found = whole(config, "micro_batch", "mbs")
    if found is not None:
        return found
    local, count = whole(config, "local_batch"), whole(config, "num_microbatches")
    if local is None:
        raise MissingFieldError("missing field micro_batch")
    return local // count if count else 1


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
    if chunks is None and "interleaved" in text(config, "schedule"):
        chunks = 2
    return chunks or 1


def _schedule(config: Config, chunks: int) -> str:
    name = text(config, "schedule")
    if "interleaved" in name or (chunks > 1 and not name):
        return "interleaved-1f1b"
    return "gpipe" if "gpipe" in name else "1f1b"


def _split(framework: Framework, axes: Axes, chunks: int, arch: Arch) -> Split:
    even = arch.layers % (axes.pp * chunks) == 0
    return Split.EVEN if even and framework in MEGATRON else Split.ENDS


def _strategy(config: Config, framework: Framework, axes: Axes) -> Strategy:
    stage = whole(config, "zero_stage")
    if stage is not None:
        return (Strategy.DDP, Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)[stage]
    if framework in MEGATRON:
        return Strategy.ZERO1
    if axes.dp * axes.cp == 1 and axes.pp == 1:
        return Strategy.DDP
    if "fsdp1" in text(config, "fsdp_version"):
        return Strategy.FSDP1
    return Strategy.HSDP if axes.dp_replicate > 1 else Strategy.FSDP


def _precision(config: Config, framework: Framework) -> str:
    words = text(config, "param_dtype")
    if framework in MEGATRON:
        return str(recipe_of(config).get("precision", "megatron"))
    if framework is Framework.DEEPSPEED:
        return "bf16-mixed"
    if "fp32" in words:
        return "fp32-bf16-adam" if "bf16 states" in text(config, "optimizer") else "bf16-mixed"
    if "bf16" in words:
        return "bf16-pure"
    raise MissingFieldError("missing field param_dtype")


def _optimizer(config: Config) -> str:
    words = " ".join(
        [text(config, "optimizer"), *(str(part).lower() for part in config.get("techniques") or ())]
    )
    if "8-bit" in words or "8bit" in words:
        return "adam8bit"
    return "adam4bit" if "4-bit" in words or "4bit" in words else "adamw"


def _recompute(config: Config, framework: Framework) -> Recompute:
    words = text(config, "ac", "recompute")
    modules = text(config, "recompute_modules")
    techniques = " ".join(str(part).lower() for part in config.get("techniques") or ())
    if flag(config, "grad_checkpointing") or "checkpointing" in techniques:
        return Recompute.FULL
    if words.startswith(("full", "on")):
        return Recompute.FULL
    if "select" in words or "sac" in words or "default" in words or modules not in ("", "[]"):
        return Recompute.SELECTIVE
    if words in ("", "none", "off", "no") and (words or framework is not Framework.TORCH or techniques):
        return Recompute.NONE
    raise MissingFieldError("missing field ac")


def _offload(config: Config) -> Offload:
    if flag(config, "offload_param") or flag(config, "cpu_offload"):
        return Offload.PARAMS
    return Offload.OPTIMIZER if flag(config, "offload_optimizer") else Offload.NONE


def _reshards(config: Config, axes: Axes) -> bool:
    if "reshard_after_forward" in config:
        return flag(config, "reshard_after_forward")
    if "reshard" in config:
        return "never" not in text(config, "reshard")
    return axes.pp == 1


def _lora(config: Config) -> Lora | None:
    words = " ".join(
        [text(config, "method"), *(str(part).lower() for part in config.get("techniques") or ())]
    )
    if "lora" not in words:
        return None
    return Lora(rank=whole(config, "lora_rank", "rank") or 8, quantized="qlora" in words)


def runtime_of(record: Record, framework: Framework) -> Runtime:
    """The switches of the framework."""
    config = record.config
    techniques = " ".join(str(part).lower() for part in config.get("techniques") or ())
    traced = "simple" in text(config, "fsdp_version") or "aot" in text(config, "compile")
    compiled = flag(config, "compile") or "+compile" in techniques or traced
    modules = text(config, "recompute_modules").strip("[]")
    legacy = framework is Framework.MEGATRON_LEGACY
    return Runtime(
        framework=framework,
        attention=Attention.UNFUSED
        if text(config, "attention") in ("eager", "unfused", "math")
        else Attention.FLASH,
        loss=_loss(record, techniques),
        optimizer_loop=_loop(config, traced=traced),
        optimizer_in_backward="optimizer in backward" in techniques,
        compile=compiled,
        dropout=bool(whole(config, "dropout")) if "dropout" in config else legacy,
        fused_mlp=config.get("swiglu_fused", False if legacy else None),
        cp_exchange=CpExchange.ALL_TO_ALL if text(config, "cp_comm") == "a2a" else CpExchange.RING,
        float8=bool(text(config, "float8", "fp8")),
        float8_weights=_holds_eight_bits(record),
        recompute_modules=tuple(part for part in re.split(r"[+,\s']+", modules) if part),
        activation_offload=flag(config, "activation_offload") or "activation offloading" in techniques,
        reshard_last="always" in text(config, "reshard"),
        split_root=any(words in f"{record.source} {record.notes}".lower() for words in SPLIT_ROOT),
        traced=traced,
        repeat_kv="torchtune" in text(config, "framework"),
        gradient_fusion=flag(config, "grad_accum_fusion", default=True),
        etp=recipe_of(config).get("etp"),
        capacity_factor=float(config.get("moe_capacity_factor") or 1),
    )


def _holds_eight_bits(record: Record) -> bool:
    """Megatron-Bridge's FP8 recipes gather 8-bit weights, all but the one that scales by block.

    Source: NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/training/mixed_precision.py.
    """
    recipe = text(record.config, "fp8")
    return "megatron-bridge" in record.source.lower() and bool(recipe) and "block" not in recipe


def _loop(config: Config, *, traced: bool) -> OptimizerLoop:
    words = text(config, "optimizer_impl")
    fused = "fused" in words or (not words and (traced or "torchtune" in text(config, "framework")))
    return OptimizerLoop.FUSED if fused else OptimizerLoop.FOREACH


def _loss(record: Record, techniques: str) -> LossKernel:
    config = record.config
    words = text(config, "loss") or habit(record, "loss")
    if "te fused" in text(config, "cross_entropy"):
        return LossKernel.FUSED
    if "aot" in text(config, "compile"):
        return LossKernel.COMPILED
    if "chunked ce" in techniques:
        return LossKernel.CHUNKED_HEAD
    if "chunked" in words and not re.search(r"un-?chunked|not chunked", words):
        return LossKernel.CHUNKED_HEAD if "inside" in words else LossKernel.CHUNKED
    if "model returned" in words:
        return LossKernel.UPCAST_KEPT
    if words or "replicated" in text(config, "logits"):
        return LossKernel.UPCAST
    return LossKernel.AUTO
