"""Predictions for differences of two measured rows: the engine on both sides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring.memory_fields import MissingFieldError, Record, record_of
from scoring.memory_measured import Prediction, in_unit, scenario_of

from scaletui_engine.memory import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.memory.budget import StageBudget

BASES = {"8b": "titan-822-default", "qwen14b": "titan-ar19-qwen14b-run01", "qwen": "titan-ar19-qwen14b-run01"}
"""The published row whose config both sides of a difference share, by the model in its name."""
SWITCHES: dict[str, dict[str, Any]] = {
    "noac": {"ac": "none"},
    "full": {"ac": "full"},
    "fullac": {"ac": "full"},
    "sac": {"ac": "selective op"},
    "eager": {"compile": False},
    "compile": {"compile": True},
    "never": {"reshard": "never"},
    "always": {"reshard": "always"},
    "default": {"reshard": "default"},
    "ce": {"loss": "unchunked fp32 CE"},
    "chunked": {"loss": "chunked CE (8 chunks)"},
    "fp32": {"param_dtype": "fp32 sharded master"},
    "bf16": {"param_dtype": "bf16 all"},
}
"""What a word in the name of a difference sets on its side."""


def difference(record: Record) -> Prediction:
    """Allocated peak of one side less that of the other. Raises MissingFieldError."""
    base = _base(record)
    words = _words(record)
    if "adam" in words and "appears" in words:
        return in_unit(record, _rank(base, lambda stage: stage.parts.optimizer), "the optimizer's states")
    if "adam" in words:
        kept = replace(base, config={**base.config, "optimizer": "AdamW bf16 states"})
        held = _rank(base, lambda stage: stage.parts.optimizer)
        return in_unit(record, held - _rank(kept, lambda stage: stage.parts.optimizer), "moments of 2 bytes")
    left, right, common = _sides(words)
    more = _rank(_with(base, common | left), lambda stage: stage.peak_bytes)
    less = _rank(_with(base, common | right), lambda stage: stage.peak_bytes)
    return in_unit(record, more - less, f"allocated, {sorted(left)} less {sorted(right)}")


def _sides(words: list[str]) -> tuple[set[str], set[str], set[str]]:
    """Switches before "minus", after it, and those that hold on both sides."""
    if "minus" not in words:
        raise MissingFieldError("missing field formula (no two sides in the row's name)")
    at = words.index("minus")
    left = {word for word in words[:at] if word in SWITCHES}
    after = [word for word in words[at + 1 :] if word in SWITCHES]
    right = set(after[:1])
    same = {key for word in left for key in SWITCHES[word]}
    common = {word for word in after[1:] if not same & SWITCHES[word].keys()}
    if not left or not right:
        raise MissingFieldError("missing field formula (a side of the difference is not named)")
    return left, right, common


def _with(base: Record, words: set[str]) -> Record:
    changed = dict(base.config)
    for word in words:
        changed |= SWITCHES[word]
    return replace(base, config=changed)


def _words(record: Record) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", record.id.lower()) if word and word != "diff"]


def _base(record: Record) -> Record:
    for word in _words(record):
        if word in BASES:
            return _reference()[BASES[word]]
    raise MissingFieldError("missing field model (no published row has its config)")


@cache
def _reference() -> dict[str, Record]:
    rows = json.loads((Path(__file__).parents[1] / "memory.json").read_text("utf-8"))
    return {row["id"]: record_of(row) for row in rows}


def _rank(record: Record, value: Callable[[StageBudget], int]) -> int:
    return max(value(stage) for stage in evaluate(scenario_of(record)).stages)
