"""Cases whose every number is exact: makespan, spans, idle time and peaks at 1e-9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scoring.pipeline_names import UnknownFieldError, schedule_name
from scoring.report import Line

from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.registry import build, entry
from scaletui_engine.schedule.result import evaluate
from scaletui_engine.schedule.shape import Choices, Shape
from scaletui_engine.schedule.times import Times

if TYPE_CHECKING:
    from scaletui_engine.schedule.result import Result

Case = dict[str, Any]
TOLERANCE: Final = 1e-9

INPUTS: Final = frozenset(
    [
        "schedule",
        "p",
        "m",
        "m_total_both_directions",
        "v",
        "F",
        "I",
        "W",
        "B",
        "B_full",
        "F_and_B",
        "comm",
        "per",
        "group",
        "N",
        "slices",
        "k",
        "memory_limit",
        "note",
        "case",
        "hf_space_formula_microbatches",
    ]
)
"""What a case says about itself; every other field is an expectation."""


def exact_lines(cases: list[Case]) -> list[Line]:
    """One line a case."""
    return [_line(case, "exact", request_of) for case in cases]


def uneven_lines(cases: list[Case]) -> list[Line]:
    """One line a case; F and B have one time a stage."""
    return [_line(case, "uneven", request_of) for case in cases]


def _line(case: Case, group: str, ask: Any) -> Line:
    name = case_id(case)
    try:
        result = evaluate(build(request := ask(case)), request.times)
    except (UnknownFieldError, KeyError, TypeError, AttributeError) as missing:
        return Line(name, group, None, "t", "inexpressible", f"field {missing}")
    except ScenarioError as error:
        return Line(name, group, None, "t", "off", f"refused: {error}")
    found = measured(result)
    wrong = [
        f"{key} {found[key]} not {value}"
        for key, value in _expected(case, found)
        if not same(found[key], value)
    ]
    unknown = [key for key in case if key not in INPUTS and key not in found]
    compared = any(True for _ in _expected(case, found))
    status = ("off" if wrong else "ok") if compared else "reported"
    reason = "; ".join(wrong + ([f"not compared: {', '.join(unknown)}"] if unknown else []))
    key = "makespan" if "makespan" in case or "max_span" not in case else "max_span"
    return Line(name, group, found[key], "t", status, reason, case.get(key))


def _expected(case: Case, found: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        (key, value)
        for key, value in case.items()
        if key in found and key not in INPUTS and value is not None
    ]


def case_id(case: Case) -> str:
    """The inputs in one word."""
    shape = f"p{case.get('p')} m{case.get('m', case.get('m_total_both_directions'))} v{case.get('v', 1)}"
    times = " ".join(f"{key}{case[key]}" for key in ("F", "I", "W", "B", "F_and_B", "comm") if key in case)
    return f"{case.get('schedule')} {shape} {times} {case.get('case', '')}".strip()


def request_of(case: Case) -> Request:
    """The engine's request of a case. Raises UnknownFieldError."""
    name = schedule_name(case["schedule"])
    microbatches = case.get("m", case.get("m_total_both_directions"))
    if microbatches is None:
        raise UnknownFieldError("m")
    chunks = case.get("v") if name != "dualpipe" else 1
    shape = Shape(case["p"], microbatches, entry(name).default_chunks if chunks is None else chunks)
    choices = Choices(
        group=case.get("group", case.get("N")),
        slices=int(case.get("slices") or case.get("k") or 2),
        memory_limit=case.get("memory_limit"),
        reordered="no re-ordering" not in case["schedule"],
    )
    return Request(name, shape, choices, times_of(case, shape))


def times_of(case: Case, shape: Shape) -> Times:
    """Times of a chunk; `per` says when a case gives those of a whole rank."""
    per = case.get("per", "chunk")
    if per not in ("chunk", "device", "rank"):
        raise UnknownFieldError(f"per {per!r}")
    part = 1 if per == "chunk" else shape.chunks
    whole = case.get("B_full", case.get("B"))
    halves = [case[key] if key in case else _half(whole) for key in ("I", "W")]
    comm = case.get("comm", 0)
    return Times(
        forward=spread(case["F"], part),
        input_grad=spread(halves[0], part),
        weight_grad=spread(halves[1], part),
        backward=None if whole is None else spread(whole, part),
        comm=spread(comm, 1),
        overlapped=None if case.get("F_and_B") is None else case["F_and_B"] / part,
    )


def _half(whole: float | list[float] | None) -> float | list[float]:
    """I or W of a case that gives the whole backward alone, or nothing."""
    if isinstance(whole, list):
        return [each / 2 for each in whole]
    return 1.0 if whole is None else whole / 2


def spread(value: float | list[float], part: int) -> tuple[float, ...]:
    """One value, or one a stage."""
    return tuple(each / part for each in (value if isinstance(value, list) else [value]))


def measured(result: Result) -> dict[str, Any]:
    """Everything that a case may expect, by its key there."""
    timeline, bubble, schedule = result.timeline, result.bubble, result.timeline.schedule
    return {
        "makespan": timeline.makespan,
        "max_span": float(timeline.spans.max()),
        "ideal": bubble.ideal,
        "stages": schedule.stages,
        "PP_stages": schedule.stages,
        "busy_per_rank": timeline.busy.tolist(),
        "idle_in_makespan_per_rank": list(bubble.per_rank),
        "idle_in_span_per_rank": list(bubble.within_span),
        "peak_live_chunks": result.activations.peak.tolist(),
        "peak_live_chunks_free_at_I": result.early_activations.peak.tolist(),
        "peak_live_chunks_max": float(result.activations.peak.max()),
        "readme_formula": max(bubble.per_rank),
        "bubble_A": bubble.over_ideal,
        "bubble_B": bubble.over_makespan,
        "bubble_C": bubble.zero_bubble,
    }


def same(found: Any, expected: Any) -> bool:
    """Equal at 1e-9; a number printed with six decimals is compared as printed."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    digits = len(f"{expected!r}".partition(".")[2]) if isinstance(expected, float) else 0
    return abs(found - expected) <= TOLERANCE or (
        digits == 6 and abs(round(found, 6) - expected) <= TOLERANCE
    )
