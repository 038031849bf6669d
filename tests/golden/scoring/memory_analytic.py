"""Predictions for rows that publish a formula's value, in the formula's own accounting."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scoring.memory_fields import MissingFieldError, degree, positive, text, whole
from scoring.memory_measured import Prediction, in_unit
from scoring.memory_model import named_arch

from scaletui_engine.memory.conventions.deepspeed import (
    DeepspeedCase,
    zero2_documented,
    zero2_needs,
    zero3_needs,
)
from scaletui_engine.memory.conventions.korthikanti import (
    PaperModel,
    Technique,
    first_stage_bytes,
    layer_bytes,
    state_bytes,
)
from scaletui_engine.memory.conventions.zero import zero_bytes
from scaletui_engine.plan import Offload, Recompute

if TYPE_CHECKING:
    from scoring.memory_fields import Record

PAPER_MODELS = {"22b": "megatron-22b", "175b": "gpt3-175b", "530b": "megatron-530b", "1t": "megatron-1t"}
PAPER_TP, PAPER_SEQ = 8, 2048
"""Tensor parallelism and sequence of the paper's table 3."""


def analytic(record: Record) -> Prediction:
    """A value in the convention that the row's fields belong to. Raises MissingFieldError."""
    config = record.config
    if record.unit == "%":
        return _share(record)
    if "largest_layer" in config:
        return _deepspeed(record)
    if "h" in config:
        return _paper(record)
    if "params" in config and "dp" in config:
        return _zero(record)
    raise MissingFieldError("missing field h, params or largest_layer (no formula has these fields)")


def _zero(record: Record) -> Prediction:
    """The paper's legend: baseline, Pos, Pos+g, Pos+g+p; figure 1 prints one decimal."""
    config = record.config
    words = text(config, "desc") or record.id.lower()
    stage = 3 if "+p" in words else 2 if "+g" in words else 1 if "pos" in words else 0
    size = zero_bytes(positive(config, "params"), positive(config, "dp"), stage, whole(config, "k") or 12)
    return _printed(in_unit(record, size, f"ZeRO stage {stage}"), 1)


def _paper(record: Record) -> Prediction:
    config = record.config
    model = PaperModel(
        layers=positive(config, "L"),
        hidden=positive(config, "h"),
        heads=positive(config, "a"),
        seq=positive(config, "s"),
        micro_batch=positive(config, "b"),
        tp=degree(config, "tp"),
        pp=degree(config, "pp"),
        virtual=degree(config, "virtual_pipeline"),
    )
    if "param" in record.quantity:
        return in_unit(record, state_bytes(model), "18 x 12 h^2 L / (t p)")
    return in_unit(record, first_stage_bytes(model, _technique(record.quantity)), "table 2")


def _technique(words: str) -> Technique:
    parts = words.lower().replace("act-", "").split("+")
    selective = any(part.startswith("sel") for part in parts)
    full = any(part.startswith("full") for part in parts)
    recompute = Recompute.FULL if full else Recompute.SELECTIVE if selective else Recompute.NONE
    return Technique(any(part in ("sp", "seq") for part in parts), recompute)


def _share(record: Record) -> Prediction:
    """Figure 7: a technique's activations as a percentage of plain tensor parallelism's."""
    name = text(record.config, "model")
    arch = named_arch(PAPER_MODELS.get(name, name))
    if arch is None:
        raise MissingFieldError(f"missing field model ({name!r} is not one of the paper's)")
    model = PaperModel(arch.layers, arch.hidden, arch.heads, PAPER_SEQ, 1, PAPER_TP)
    technique = _technique(record.id.rpartition("-")[2])
    share = layer_bytes(model, technique) / layer_bytes(model, Technique())
    return Prediction(100 * share, "table 2")


def _deepspeed(record: Record) -> Prediction:
    """The estimators print gigabytes of 2^30 bytes with two decimals."""
    config = record.config
    words = text(config, "opts") or record.id.lower()
    on_host = [part for part in ("param", "optimizer") if f"{part}=cpu" in words or f"{part}=nvme" in words]
    offload = Offload.PARAMS if "param" in on_host else Offload.OPTIMIZER if on_host else Offload.NONE
    case = DeepspeedCase(
        params=positive(config, "total_params"),
        gpus_per_node=degree(config, "gpus_per_node"),
        nodes=degree(config, "nodes"),
        offload=offload,
        zero_init="zero_init=0" not in words,
        largest_layer=positive(config, "largest_layer"),
    )
    documented = "memory.rst" in record.source
    two = zero2_documented(case) if documented else zero2_needs(case)
    needs = two if re.search(r"\bz(?:ero)?-?2", words) else zero3_needs(case)
    host = "cpu" in record.quantity.lower() or "host" in record.quantity.lower()
    return _printed(in_unit(record, needs.host if host else needs.gpu, "DeepSpeed's estimator"), 2)


def _printed(found: Prediction, decimals: int) -> Prediction:
    """As the source prints it."""
    return Prediction(None if found.value is None else round(found.value, decimals), found.reason)
