"""Predictions for differences of two measured rows: the engine on both sides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring.memory_fields import MissingFieldError, Record, record_of
from scoring.memory_measured import Prediction, in_unit, quantity_of, scenario_of

from scaletui_engine.memory import evaluate
from scaletui_engine.memory.reserve import RESERVE_FACTOR

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
    "unchunked": {"loss": "unchunked fp32 CE"},
    "chunked": {"loss": "chunked CE (8 chunks)"},
    "fp32": {"param_dtype": "fp32 sharded master"},
    "bf16": {"param_dtype": "bf16 all"},
}
"""What a word in the name of a difference sets on its side."""
SAID = (
    ("no-ac", "noac"),
    ("full-ac", "fullac"),
    ("ce-full", "unchunked"),
    ("full-ce", "unchunked"),
    ("full-minus-chunked", "unchunked-minus-chunked"),
)
"""Words of a name that belong together; a "full" loss is one that is not cut into chunks."""


def difference(record: Record) -> Prediction:
    """The rank of one side less that of the other. Raises MissingFieldError."""
    words = _words(record)
    if "adam" in words:
        return _moments(record, appears="appears" in words)
    rows = _rows(record)
    if rows is not None:
        more, less = rows
        return in_unit(record, _pools(more) - _pools(less), f"{more.id} less {less.id}")
    base = _base(record)
    left, right, common = _sides(words)
    more, less = _with(base, common | left), _with(base, common | right)
    gap = _pools(more) - _pools(less)
    named = f"{sorted(left)} less {sorted(right) or 'the plain row'}"
    return in_unit(record, gap if "minus" in words else abs(gap), named)


def _moments(record: Record, *, appears: bool) -> Prediction:
    """The optimizer's states: all of them, or what they shrink by in 2 bytes a moment."""
    base = _base(record)
    held = _rank(base, lambda stage: stage.parts.optimizer)
    if appears:
        return in_unit(record, held, "the optimizer's states")
    kept = replace(base, config={**base.config, "optimizer": "AdamW bf16 states"})
    return in_unit(record, held - _rank(kept, lambda stage: stage.parts.optimizer), "moments of 2 bytes")


def _rows(record: Record) -> tuple[Record, Record] | None:
    """The two published rows that a source like "ar19 run01-run02" names, where both are known."""
    family, _, names = record.source.partition(" ")
    pair = re.fullmatch(r"(\w+)-(\w+)", names.strip())
    if pair is None:
        return None
    found = [_row(family, name) for name in pair.groups()]
    return (found[0], found[1]) if found[0] and found[1] else None


def _row(family: str, name: str) -> Record | None:
    rows = [row for row in _reference().values() if row.id.startswith(f"titan-{family}-")]
    return next((row for row in rows if row.id.endswith(f"-{name}") or f"'{name}'" in row.source), None)


def _sides(words: list[str]) -> tuple[set[str], set[str], set[str]]:
    """Switches before "minus", after it, and on both sides; without "minus" all stand on one side."""
    at = words.index("minus") if "minus" in words else len(words)
    left = {word for word in words[:at] if word in SWITCHES}
    after = [word for word in words[at + 1 :] if word in SWITCHES]
    right = set(after[:1])
    same = {key for word in left for key in SWITCHES[word]}
    common = {word for word in after[1:] if not same & SWITCHES[word].keys()}
    if not left or ("minus" in words and not right):
        raise MissingFieldError("missing field formula (a side of the difference is not named)")
    return left, right, common


def _with(base: Record, words: set[str]) -> Record:
    changed = dict(base.config)
    for word in words:
        changed |= SWITCHES[word]
    return replace(base, config=changed)


def _words(record: Record) -> list[str]:
    name = record.id.lower()
    for said, word in SAID:
        name = name.replace(said, word)
    return [word for word in re.split(r"[^a-z0-9]+", name) if word and word != "diff"]


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


def _pools(record: Record) -> float:
    """The fullest rank in the row's own quantity; of what is reserved, the pools.

    How much rounding adds to them is calibrated on whole peaks and says nothing about a part of one.
    """
    if quantity_of(record) == "reserved":
        return _rank(record, lambda stage: stage.reserved.likely) / RESERVE_FACTOR
    return _rank(record, lambda stage: stage.peak_bytes)
