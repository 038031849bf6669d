"""Orders action by action: PyTorch's, the papers' figures, Megatron-LM's tables."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from scoring.pipeline_names import UnknownFieldError, schedule_name
from scoring.report import Line

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.check import check
from scaletui_engine.schedule.interchange.chunk_order import chunk_order
from scaletui_engine.schedule.interchange.csv_reader import read_csv
from scaletui_engine.schedule.interchange.csv_writer import csv_lines
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.orders.rounds import virtual_order
from scaletui_engine.schedule.registry import build, entry
from scaletui_engine.schedule.shape import Choices, Shape

if TYPE_CHECKING:
    from scaletui_engine.schedule.schedule import Schedule

Case = dict[str, Any]


def torch_lines(cases: list[Case]) -> list[Line]:
    """One line a record of PyTorch's own classes: the executed order where there is one, and the lowered."""
    return [_torch_line(case) for case in cases]


def _torch_line(case: Case) -> Line:
    name = f"{case['schedule']} p{case['p']} m{case['m']} v{case.get('v', 1)}"
    try:
        schedule = build(Request(case["schedule"], Shape(case["p"], case["m"], case.get("v", 1))))
    except ScenarioError as error:
        return Line(name, "torch", None, "actions", "off", f"refused: {error}")
    differs = _difference(_cells(schedule), _torch_rows(case.get("executed") or case["actions"]))
    if not differs and case.get("comms"):
        rows = [[cell for cell in case["comms"][str(rank)] if cell] for rank in range(case["p"])]
        differs = _difference(_cells(lower(schedule)), rows)
    count = sum(map(len, _cells(schedule)))
    return Line(name, "torch", count, "actions", "off" if differs else "ok", differs, count)


def _torch_rows(rows: dict[str, list[str | None]]) -> list[list[str]]:
    return [[cell for cell in rows[str(rank)] if cell and "REDUCE" not in cell] for rank in range(len(rows))]


def _cells(schedule: Schedule) -> list[list[str]]:
    return [list(map(str, schedule.steps(rank))) for rank in range(schedule.ranks)]


def _difference(found: list[list[str]], wanted: list[list[str]]) -> str:
    for rank, (ours, theirs) in enumerate(zip(found, wanted, strict=False)):
        for place, (one, other) in enumerate(zip([*ours, "end"], [*theirs, "end"], strict=False)):
            if one != other:
                return f"rank {rank}, action {place}: {one} not {other}"
    return "" if len(found) == len(wanted) else f"{len(found)} ranks not {len(wanted)}"


def order_lines(cases: list[Case]) -> list[Line]:
    """One line an order; a name without a schedule is a file that must be valid and survive a round trip."""
    return [_order_line(case) for case in cases]


def _order_line(case: Case) -> Line:
    rows = [[cell for cell in row.split(",") if cell] for row in case.get("rows") or []]
    try:
        schedule = _named(case, rows)
    except UnknownFieldError:
        return _file_line(case)
    except ScenarioError as error:
        return Line(case["name"], "order", None, "actions", "off", f"refused: {error}")
    differs = _difference(_cells(schedule), rows) if rows else _sha_difference(schedule, case)
    count = sum(map(len, _cells(schedule)))
    return Line(case["name"], "order", count, "actions", "off" if differs else "ok", differs)


def _sha_difference(schedule: Schedule, case: Case) -> str:
    found, wanted = sha_of(schedule), case.get("sha256_of_rows_joined_by_newline")
    return "" if found == wanted else f"sha256 {found} not {wanted}"


def sha_of(schedule: Schedule) -> str:
    """Of the CSV lines, joined by newlines."""
    return sha256("\n".join(csv_lines(schedule)).encode()).hexdigest()


def _named(case: Case, rows: list[list[str]]) -> Schedule:
    """The schedule that a name like "zb_h1_p4_m8" or "dualpipev_4rank_10mb" asks for."""
    match = re.match(r"(?P<base>[a-z0-9_]*?)_(?:p?\d+)(?:rank)?(?:_|$)", case["name"])
    if match is None:
        raise UnknownFieldError("name")
    base = re.sub(r"_torch$", "", match["base"])
    torch = "torch" in f"{case['name']} {case.get('source', '')}".lower()
    name = schedule_name(base, torch)
    ranks = case.get("p") or _number(case["name"], r"p(\d+)|(\d+)rank") or len(rows)
    microbatches = case.get("m") or _number(case["name"], r"m(\d+)|(\d+)mb") or _microbatches(rows)
    chunks = case.get("v") or _number(case["name"], r"v(\d+)|(\d+)stagep") or entry(name).default_chunks
    schedule = build(Request(name, Shape(ranks, microbatches, chunks)))
    if case.get("comms") or any("SEND" in cell for row in rows for cell in row):
        return lower(schedule, Passes(merge=True, fsdp=False))
    return schedule


def _microbatches(rows: list[list[str]]) -> int:
    return 1 + max(int(found[1]) for row in rows for cell in row if (found := re.search(r"\dF(\d+)", cell)))


def _number(name: str, pattern: str) -> int | None:
    match = re.search(rf"(?:^|_)(?:{pattern})(?=[_\s]|$)", name)
    return None if match is None else int(match[1] or match[2])


def _file_line(case: Case) -> Line:
    text = "\n".join(case.get("rows") or [])
    try:
        schedule = read_csv(text).schedule
    except ScenarioError as error:
        return Line(case["name"], "order", None, "actions", "off", str(error))
    faults = [fault.message for fault in check(schedule)]
    again = "" if "\n".join(csv_lines(schedule)) == text else "does not survive a round trip"
    wrong = "; ".join(filter(None, [*faults, again]))
    return Line(case["name"], "order", schedule.actions, "actions", "off" if wrong else "ok", wrong)


def figure_lines(figures: Case) -> list[Line]:
    """The microbatch numbers of every rank as the zero-bubble paper's figures print them, counted from 1."""
    lines: list[Line] = []
    for key, rows in figures.items():
        if isinstance(rows, list):
            name = schedule_name(re.sub(r"_fig\d+$", "", key))
            shape = Shape(figures["p"], figures["m"], entry(name).default_chunks)
            schedule = build(Request(name, shape))
            found = [" ".join(str((code >> 21) + 1) for code in row.tolist()) for row in schedule.rows]
            wrong = [
                f"rank {rank}"
                for rank, pair in enumerate(zip(found, rows, strict=True))
                if pair[0] != pair[1]
            ]
            status = "off" if wrong else "ok"
            lines.append(Line(key, "figure", schedule.actions, "actions", status, ", ".join(wrong)))
    return lines


def megatron_lines(case: Case) -> list[Line]:
    """Megatron-LM's documented schedule table and signed order of rank 0."""
    shape = Shape(case["PP"], case["M"], case["VP"])
    table = virtual_order(case["M"], case["N_microbatch_group"], case["VP"])
    schedule = build(Request("interleaved-1f1b", shape, Choices(group=case["N_microbatch_group"])))
    checks = {
        "microbatch_id": [k for _, k in table],
        "model_chunk_id": [chunk for chunk, _ in table],
        "order_signed_chunk": list(chunk_order(schedule, 0)),
    }
    wrong = [
        f"{key} {found} not {case[key]}"
        for key, found in checks.items()
        if case.get(key) not in (None, found)
    ]
    name = f"PP{case['PP']} N{case['N_microbatch_group']} M{case['M']} VP{case['VP']}"
    return [
        Line(name, "Megatron-LM", schedule.actions, "actions", "off" if wrong else "ok", "; ".join(wrong))
    ]
