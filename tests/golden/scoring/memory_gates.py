"""Which gate a record is held against, and whether it holds."""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING

from scoring.memory_fields import text, whole
from scoring.memory_measured import Prediction, fits_of, quantity_of
from scoring.memory_model import is_given
from scoring.report import Gate, Line

if TYPE_CHECKING:
    from scoring.memory_fields import Record

Pairs = list[tuple["Record", Line]]

BOUNDS = {
    "analytic": 0.1,
    "analytic percent": 0.5,
    "megatron b200": 1.0,
    "megatron b200 cp, moe or mla": 3.0,
    "megatron pr 482": 3.0,
    "mbridge": 3.0,
    "torchtitan allocated": 5.0,
    "torchtitan reserved": 15.0,
    "difference": 5.0,
}
"""Percent (points for percentages) that each grade A record of a group may be off."""
RESERVED_MEDIAN = 8.0
EXPRESSIBLE = {"A": 90.0, "B": 70.0}


def group_of(record: Record) -> str:
    """The group of a record; the names of `BOUNDS` are gated, the others reported."""
    if record.kind == "analytic":
        return "analytic percent" if record.unit == "%" else "analytic"
    if record.kind == "differential":
        return "difference"
    if record.kind == "measured-oom" or record.quantity.lower().startswith("oom"):
        return "out of memory"
    if "what" in record.config or "cuda_init" in record.config:
        return "overhead"
    return _measured(record)


def _measured(record: Record) -> str:
    source, config = record.source.lower(), record.config
    if "simumax" in source:
        special = (whole(config, "cp") or 1) > 1 or "experts" in config or "attn" in config
        return "megatron b200 cp, moe or mla" if special else "megatron b200"
    if "pr #482" in source:
        return "megatron pr 482"
    if "mbridge" in source or "megatron-bridge" in source:
        return "mbridge" if is_given(config) else "mbridge, model not given"
    if "torchtitan" in text(config, "framework") or "torchtitan" in source:
        if quantity_of(record) != "reserved":
            return "torchtitan allocated"
        return "torchtitan reserved" if (whole(config, "tp") or 1) == 1 else "torchtitan reserved, TP"
    return next((name for name in ("torchtune", "torchao", "deepspeed", "peft") if name in source), "other")


def is_faulty(record: Record) -> bool:
    """Whether a row records an upstream bug or a leak."""
    words = f"{record.notes} {record.config.get('float8') or ''}".lower()
    return re.search(r"\bbugs?\b|\bleak|\bwrongly\b", words) is not None


def gated(record: Record) -> bool:
    """Whether a row counts: grade A, out-of-memory rows also B, and no upstream bug."""
    grades = ("A", "B") if group_of(record) == "out of memory" else ("A",)
    return record.quality in grades and not is_faulty(record)


def status_of(record: Record, group: str, error: float | None, found: Prediction) -> str:
    """ok, off or reported."""
    if not gated(record):
        return "reported"
    if found.fits is not None:
        return "off" if found.fits else "ok"
    bound = BOUNDS.get(group)
    if bound is None or error is None:
        return "reported"
    return "ok" if abs(error) <= bound else "off"


def gates_of(pairs: Pairs) -> tuple[Gate, ...]:
    """Every gate of the file."""
    counted = [(record, line) for record, line in pairs if gated(record)]
    worst = [Gate(f"{group}, worst", _worst(counted, group), bound) for group, bound in BOUNDS.items()]
    reserved = _errors(counted, "torchtitan reserved")
    return (
        *worst,
        Gate("torchtitan reserved, median", median(reserved) if reserved else None, RESERVED_MEDIAN),
        Gate("fits and out-of-memory rows on the wrong side", _misplaced(counted), 0.0),
        *(_coverage(pairs, grade, least) for grade, least in EXPRESSIBLE.items()),
    )


def _errors(counted: Pairs, group: str) -> list[float]:
    return [abs(line.error) for _, line in counted if line.group == group and line.error is not None]


def _worst(counted: Pairs, group: str) -> float | None:
    return max(_errors(counted, group), default=None)


def _misplaced(counted: Pairs) -> float | None:
    """Out-of-memory rows said to fit, and rows of the same sources said not to."""
    oom = [(record, line) for record, line in counted if line.group == "out of memory"]
    sources = {record.source for record, _ in oom}
    wrong = sum(line.status == "off" for _, line in oom)
    neighbours = [
        fits_of(record)
        for record, line in counted
        if record.source in sources and line.group != "out of memory" and line.predicted is not None
    ]
    return float(wrong + neighbours.count(False)) if oom else None


def _coverage(pairs: Pairs, grade: str, least: float) -> Gate:
    """Percent of a grade's rows that the engine can express."""
    graded = [line for record, line in pairs if record.quality == grade]
    said = sum(line.status != "inexpressible" for line in graded)
    return Gate(
        f"grade {grade} rows expressible, percent",
        100.0 * said / len(graded) if graded else None,
        least,
        True,
    )
