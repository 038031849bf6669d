"""Orders that have to be refused, written as people describe them."""

from __future__ import annotations

import re
from typing import Any

from scoring.pipeline_names import UnknownFieldError
from scoring.report import Line

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.action import leaves
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.grid import check_times
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.modes.messages_only import require_messages_flow
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import Times

SLOT = Times(backward=(1.0,))
"""One slot an action, as grids are drawn."""


def refusal_lines(cases: list[dict[str, Any]]) -> list[Line]:
    """One line a case: ok when every order in it is refused, or its old letters translated where allowed."""
    return [_line(case) for case in cases]


def _line(case: dict[str, Any]) -> Line:
    text = str(case.get("input", ""))
    name = str(case.get("id", text[:30]))
    try:
        reasons = _reasons(text, str(case.get("expect", "")))
    except UnknownFieldError as missing:
        return Line(name, "refusal", None, "", "inexpressible", f"field {missing}")
    accepted = [order for order, reason in reasons if reason is None]
    said = "; ".join(reason for _, reason in reasons if reason is not None)
    reason = f"accepted: {accepted}" if accepted else said
    return Line(
        name,
        "refusal",
        len(reasons) - len(accepted),
        "refused",
        "off" if accepted else "ok",
        reason,
        len(reasons),
    )


def _reasons(text: str, expect: str) -> list[tuple[str, str | None]]:
    """Every order that a description holds, and why it is refused."""
    rows = re.findall(r"r(?:ank)?\s*\d+\s*[:\[]\s*([0-9A-Z_,;()\s]+)", text)
    if any("SEND" in row for row in rows):
        return [(text, _message_refusal(rows))]
    if len(rows) > 1:
        return [(text, _order_refusal(rows))]
    if grid := re.search(r"P\s*=\s*(\d+)\D+M\s*=\s*(\d+).*rank 0: F0\.\.F(\d+) then B0 immediately", text):
        return [(text, _grid_refusal(*map(int, grid.groups())))]
    if both := re.search(r"stage (\d+) on both rank (\d+) and rank (\d+)", text):
        return [(text, _shared_stage_refusal(*map(int, both.groups())))]
    if "without W" in text or "W twice" in text:
        return [
            ("I without W", _order_refusal(["0F0,0I0"])),
            ("W twice", _order_refusal(["0F0,0I0,0W0,0W0"])),
        ]
    if cells := re.findall(r"'([^']+)'", text):
        return [(cell, _cell_refusal(cell, expect)) for cell in cells]
    raise UnknownFieldError(f"input {text[:60]!r}: not rows, cells or a grid")


def _order_refusal(rows: list[str]) -> str | None:
    try:
        schedule = read_csv("\n".join(row.strip().rstrip(";,").strip() for row in rows)).schedule
        faults = check(schedule)
        if not faults:
            simulate(schedule)
    except ScenarioError as error:
        return str(error)
    return faults[0].message if faults else None


def _message_refusal(rows: list[str]) -> str | None:
    """Rows may be cut short; under asynchronous sends they must flow, under blocking ones they must not."""
    schedule = read_csv("\n".join(row.strip(" .,;\n") for row in rows)).schedule
    require_messages_flow(schedule, rendezvous=False)
    try:
        require_messages_flow(schedule, rendezvous=True)
    except ScenarioError as error:
        return str(error)
    return None


def _grid_refusal(ranks: int, microbatches: int, last: int) -> str | None:
    """1F1B drawn with rank 0's first backward right behind its last warm-up forward."""
    schedule = build(Request("1f1b", Shape(ranks, microbatches)))
    timeline = simulate(schedule, SLOT)
    starts = [
        timeline.start[first:stop].tolist()
        for first, stop in zip(timeline.table.row, timeline.table.row[1:], strict=False)
    ]
    place = next(i for i, step in enumerate(schedule.steps(0)) if leaves(step)[0].kind == Kind.BACKWARD)
    starts[0][place] = float(last + 1)
    early = check_times(schedule, starts, SLOT)
    return str(early[0]) if early else None


def _shared_stage_refusal(stage: int, first: int, second: int) -> str | None:
    rows = [""] * (1 + max(first, second))
    for rank in (first, second):
        rows[rank] = ",".join(
            f"{s}{kind}0" for s in range(stage + 1) if s == stage or s % len(rows) == rank for kind in "FB"
        )
    return _order_refusal([row for row in rows if row])


def _cell_refusal(cell: str, expect: str) -> str | None:
    """A cell is refused, or where the expectation allows it becomes today's letters."""
    try:
        found = read_csv(cell).schedule
    except ScenarioError as error:
        return str(error)
    written = next(iter(csv_lines(found)))
    old = re.fullmatch(r"(\d+)BW(\d+)", cell)
    if old and "translation" in expect and written == f"{old[1]}B{old[2]}":
        return f"{cell} is translated to {written}"
    return None
