"""Pipeline schedules: exact cases, orders, the zero-bubble paper's table, refusals; any subset of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scoring.pipeline_exact import exact_lines, uneven_lines
from scoring.pipeline_orders import figure_lines, megatron_lines, order_lines, torch_lines
from scoring.pipeline_paper import paper_lines
from scoring.pipeline_refusals import refusal_lines
from scoring.report import Gate, Line, Report

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS: dict[str, tuple[str, Callable[[Any], list[Line]]]] = {
    "own_sim_exact_cases": ("exact cases off", exact_lines),
    "uneven_stage_cases": ("uneven cases off", uneven_lines),
    "golden_orders": ("orders off", order_lines),
    "figure_microbatch_sequences_1based": ("figure rows off", figure_lines),
    "megatron_schedule_table_golden": ("Megatron-LM orders off", megatron_lines),
    "zb_paper_table5_and_9": ("cells of the paper's table off", paper_lines),
    "negative_cases": ("cases that are not refused", refusal_lines),
}
"""Key of a file -> name of its gate, and what scores it."""


def score(cases: dict[str, Any] | list[dict[str, Any]]) -> Report:
    """A file of named parts, or a list of PyTorch's orders."""
    if isinstance(cases, list):
        lines = torch_lines(cases)
        return Report(tuple(lines), (_gate("PyTorch's orders off", lines),))
    records: list[Line] = []
    gates: list[Gate] = []
    for key, (name, lines_of) in PARTS.items():
        if key in cases:
            lines = lines_of(cases[key])
            records += lines
            gates.append(_gate(name, lines))
    records += [_aside(key) for key in cases if key not in PARTS and not key.startswith("_")]
    return Report(tuple(records), tuple(gates))


def _aside(key: str) -> Line:
    return Line(
        key, "aside", None, "", "reported", "a table of measurements or a remark: for trends, not scored"
    )


def _gate(name: str, lines: list[Line]) -> Gate:
    held = [line for line in lines if line.status in ("ok", "off", "inexpressible")]
    return Gate(name, sum(line.status != "ok" for line in held) if held else None, 0)
