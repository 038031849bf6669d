"""Sharding cases: layouts, partitions, groups, coordinates, volumes and refusals, equal to the last digit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from scoring.report import Gate, Line, Report
from scoring.sharding_compare import differences
from scoring.sharding_layouts import LAYOUTS
from scoring.sharding_ranks import RANKS
from scoring.sharding_refusals import refusal_of
from scoring.sharding_volumes import VOLUMES

from scaletui_engine.errors import ScenarioError

Case = dict[str, Any]
PREDICT: Final = {**LAYOUTS, **RANKS, **VOLUMES}
"""Kind -> the engine's answer to a case, in the format of its `expected`."""
REPORTED: Final = ("viewer", "topo_parse", "collective_time", "fsdp2_comm", "fsdp2_memory", "fsdp2_tp_uneven")


@dataclass(frozen=True, slots=True)
class Answer(Line):
    """A record whose prediction is a whole answer, as JSON."""

    predicted: Any

    def text(self) -> str:
        """One line for a person; the answer itself is in the JSON."""
        return f"{self.status:<13} {self.group:<17} {self.id}  {self.reason}".rstrip()


def score(cases: dict[str, Any] | list[Case]) -> Report:
    """A file with `cases`, or the list of them."""
    listed = cases if isinstance(cases, list) else cases.get("cases", [])
    known = {str(case.get("id")): case for case in listed}
    records = tuple(_line(case, known) for case in listed)
    kinds = sorted({record.group for record in records if record.group not in REPORTED})
    return Report(records, tuple(_gate(kind, records) for kind in kinds))


def _gate(kind: str, records: tuple[Answer, ...]) -> Gate:
    held = [line for line in records if line.group == kind and line.status != "reported"]
    return Gate(f"{kind} off", sum(line.status != "ok" for line in held) if held else None, 0)


def _line(case: Case, known: dict[str, Case]) -> Answer:
    name, kind = str(case.get("id", case.get("title", "?"))), str(case.get("kind", "?"))
    if kind == "reject":
        return _refusal(name, case)
    if kind not in PREDICT:
        why = "tested by hand" if kind in REPORTED else f"kind {kind!r} is none that is scored"
        return Answer(name, kind, None, "", "reported", why)
    try:
        predicted = PREDICT[kind](case, known)
    except ScenarioError as error:
        return Answer(name, kind, {"error": str(error)}, "", "off", f"refused: {error}")
    except KeyError as missing:
        return Answer(name, kind, None, "", "inexpressible", f"field {missing} is missing")
    expected = case.get("expected")
    if expected is None:
        return Answer(name, kind, predicted, "", "reported", "nothing to compare with")
    wrong = differences(expected, predicted)
    return Answer(name, kind, predicted, "", "off" if wrong else "ok", "; ".join(wrong[:3]))


def _refusal(name: str, case: Case) -> Answer:
    """Refused, and every number of the input is in the message."""
    try:
        message = refusal_of(case.get("input") or {})
    except KeyError as missing:
        return Answer(name, "reject", None, "", "inexpressible", f"field {missing} is missing")
    if message is None:
        return Answer(name, "reject", None, "", "off", "accepted")
    absent = [
        number for number in _numbers(case.get("input")) if not re.search(rf"(?<!\d){number}(?!\d)", message)
    ]
    reason = message if not absent else f"{message} (without {', '.join(map(str, absent))})"
    return Answer(name, "reject", {"error": message}, "", "off" if absent else "ok", reason)


def _numbers(value: Any) -> list[int]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [number for part in parts for number in _numbers(part)]
