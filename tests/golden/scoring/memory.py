"""Scores the memory engine on published measurements, out-of-memory rows, differences and formulas."""

from __future__ import annotations

from typing import Any

from scoring.memory_analytic import analytic
from scoring.memory_calibration import calibration
from scoring.memory_difference import difference
from scoring.memory_fields import MissingFieldError, Record, record_of
from scoring.memory_gates import gates_of, group_of, status_of
from scoring.memory_measured import Prediction, classify, measured, overhead
from scoring.report import Line, Report, UnreadableError

from scaletui_engine.errors import ScenarioError


def score(rows: list[dict[str, Any]]) -> Report:
    """A line a row. Predictions read `config` and what the row is called, never the measured value.

    Raises UnreadableError for what is no list of rows.
    """
    if not isinstance(rows, list):
        raise UnreadableError(f"a list of records is expected, not {type(rows).__name__}")
    records = [record_of(row) for row in rows]
    lines = tuple(_line(record) for record in records)
    pairs = list(zip(records, lines, strict=True))
    return Report(lines, gates_of(pairs), calibration(pairs))


def _line(record: Record) -> Line:
    group = group_of(record)
    try:
        found = predict(record)
    except (MissingFieldError, ScenarioError) as error:
        return Line(record.id, group, None, record.unit, "inexpressible", str(error), record.expected)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Fields are free text: what reads as no number of the right kind costs its row, not the report.
        reason = f"unreadable field ({type(error).__name__}: {error})"
        return Line(record.id, group, None, record.unit, "inexpressible", reason, record.expected)
    off = _error(record, found)
    status = status_of(record, group, off, found)
    return Line(record.id, group, found.value, record.unit, status, found.reason, record.expected, off)


def predict(record: Record) -> Prediction:
    """What the engine says about a record, in its unit. Raises MissingFieldError or ScenarioError."""
    if record.kind == "analytic":
        return analytic(record)
    if record.kind == "differential":
        return difference(record)
    if record.kind == "measured-oom" or record.quantity.lower().startswith("oom"):
        return classify(record)
    if "what" in record.config or "cuda_init" in record.config:
        return overhead(record)
    return measured(record)


def _error(record: Record, found: Prediction) -> float | None:
    """Percent over the published value; points where the value is a percentage; None for a classification.

    A difference of two values printed with so many decimals is known to one unit of the last one; what it is
    off is counted from there.
    """
    if record.expected is None or found.value is None or found.fits is not None:
        return None
    if record.unit == "%":
        return found.value - record.expected
    off = found.value - record.expected
    if record.kind == "differential":
        off -= max(min(off, record.resolution), -record.resolution)
    return 100.0 * off / record.expected if record.expected else None
