"""The zero-bubble paper's table 5 (bubble C) from the times of its table 9."""

from __future__ import annotations

from typing import Any, Final

from scoring.report import Line

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.bubble import bubble_of
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build
from scaletui_engine.schedule.shape import Choices, Shape
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import uniform

Row = dict[str, Any]

INTERLEAVED_TOLERANCE: Final = 0.004
"""The paper's interleaved cost is lower by ranks x Tcomm in all rows, for a reason it does not give."""


def paper_lines(table: dict[str, Any]) -> list[Line]:
    """One line a cell."""
    return [line for row in table.get("rows", []) for line in _row_lines(row)]


def _row_lines(row: Row) -> list[Line]:
    paper = row.get("paper_bubble_C") or {}
    names = list(paper) or list(REQUESTS)
    return [_line(row, name, paper.get(name)) for name in names]


def _line(row: Row, name: str, expected: float | None) -> Line:
    label = f"{row.get('model', '')} p{row.get('p')} m{row.get('m')} {name}".strip()
    if name not in REQUESTS:
        return Line(label, "paper", None, "C", "inexpressible", f"schedule {name!r}")
    try:
        request = REQUESTS[name](row)
        found = bubble_of(simulate(build(request), request.times)).zero_bubble
    except (KeyError, ScenarioError) as error:
        return Line(label, "paper", None, "C", "inexpressible", f"field {error}")
    if expected is None:
        return Line(label, "paper", found, "C", "reported")
    status = "ok" if _agrees(name, found, expected) else "off"
    return Line(label, "paper", found, "C", status, "", expected)


def _agrees(name: str, found: float, expected: float) -> bool:
    """Four decimals; within 0.004 for the interleaved one; no worse than the paper for the searches."""
    if name == "1F1B-I":
        return abs(found - expected) <= INTERLEAVED_TOLERANCE
    if name in ("ZB-1p", "ZB-2p"):
        return round(found, 4) <= expected
    return round(found, 4) == expected


def _request(row: Row, name: str, chunks: int = 1, memory: int | None = None) -> Request:
    forward, input_grad, weight_grad = (row[key] / chunks for key in ("TF", "TB_input", "TW"))
    choices = Choices() if memory is None else Choices(memory_limit=memory)
    return Request(
        name,
        Shape(row["p"], row["m"], chunks),
        choices,
        uniform(forward, input_grad, weight_grad, row["Tcomm"]),
    )


REQUESTS: Final = {
    "1F1B": lambda row: _request(row, "1f1b"),
    "1F1B-I": lambda row: _request(row, "interleaved-1f1b", row["v_for_1F1B_I"]),
    "ZB-H1": lambda row: _request(row, "zb-h1"),
    "ZB-H2": lambda row: _request(row, "zb-h2"),
    "ZB-1p": lambda row: _request(row, "zb-auto", memory=row["p"]),
    "ZB-2p": lambda row: _request(row, "zb-auto", memory=2 * row["p"]),
}
