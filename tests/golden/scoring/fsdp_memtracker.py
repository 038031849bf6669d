"""Scores the engine against PyTorch's FSDPMemTracker: four marks to the byte, the peak within 5 percent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scoring.report import Gate, Line, Report

from scaletui_engine.memory.conventions.memtracker import (
    TrackerCase,
    TrackerMarks,
    tracker_marks,
    tracker_peak,
)
from scaletui_engine.model import Arch

SHAPES = {
    "tiny512": (512, 4, 8, 8, 1376, 32000),
    "llama1b": (2048, 16, 32, 8, 8192, 128256),
    "llama7b": (4096, 32, 32, 32, 11008, 32000),
    "llama8b": (4096, 32, 32, 8, 14336, 128256),
    "llama70b": (8192, 80, 64, 8, 28672, 128256),
}
"""Hidden, layers, heads, key/value heads, MLP width, vocabulary of the tracker's Llama shapes."""
MARKS = ("after fwd", "after bwd", "after step", "after zero_grad")
PEAK_BOUND = 5.0


@dataclass(frozen=True, slots=True)
class Scored:
    """One row: its line, and what the gates look at."""

    line: Line
    marks: float | None = None
    """Worst error at the marks, percent."""
    phase: bool | None = None
    """Whether the peak is in the phase that the categories imply; None where they imply none."""


def score(rows: list[dict[str, Any]]) -> Report:
    """A line a row: the peak, with what is off at the marks as its reason."""
    scored = [_row(index, row) for index, row in enumerate(rows)]
    marks = [row.marks for row in scored if row.marks is not None]
    peaks = [abs(row.line.error) for row in scored if row.line.error is not None]
    phases = [row.phase for row in scored if row.phase is not None]
    gates = (
        Gate(
            "parameters, gradients and optimizer at the marks, worst percent", max(marks, default=None), 0.0
        ),
        Gate("peak, worst percent", max(peaks, default=None), PEAK_BOUND),
        Gate("peaks in another phase", float(phases.count(False)) if phases else None, 0.0),
    )
    return Report(tuple(row.line for row in scored), gates)


def case_of(cfg: dict[str, Any]) -> TrackerCase:
    """The case of a row's cfg. Raises KeyError for a shape that is not known."""
    hidden, layers, heads, kv_heads, ffn, vocab = SHAPES[str(cfg["shape"])]
    return TrackerCase(
        arch=Arch(layers, hidden, heads, kv_heads, hidden // heads, ffn, vocab),
        world=int(cfg["ws"]),
        batch=int(cfg["B"]),
        seq=int(cfg["T"]),
        tp=int(cfg.get("tp", 1)),
        replicas=int(cfg.get("hsdp", 1)),
        recompute=cfg.get("ac", "none") == "full",
        reshard=bool(cfg.get("reshard", 1)),
        mixed=cfg.get("mp", "bf16") == "bf16",
        moments=2 if cfg.get("opt", "adamw") == "adamw" else 0,
        fused=bool(cfg.get("fused", 0)),
        fp32_logits=bool(cfg.get("fp32logits", 0)),
    )


def _row(index: int, row: dict[str, Any]) -> Scored:
    cfg = row.get("cfg") or {}
    name = f"{index}-" + "-".join(f"{key}={value}" for key, value in cfg.items() if key in _NAMED)
    try:
        case = case_of(cfg)
    except (KeyError, ValueError) as error:
        return Scored(Line(name, "peak", None, "B", "inexpressible", f"missing field {error}"))
    wrong, worst = _marks(case, row.get("marks") or {})
    own, found = tracker_peak(case), _sum(row.get("peak") or {})
    implied = _implied(found, case)
    phase = None if implied is None else implied == _coarse(own.phase)
    said = f"{own.phase}" + (f" (the categories say {implied})" if phase is False else "")
    reason = "; ".join((said, *wrong))
    total = found.get("Total")
    if total is None:
        return Scored(Line(name, "peak", own.bytes, "B", "reported", reason), worst, phase)
    off = 100.0 * (own.bytes - total) / total
    status = "off" if wrong or phase is False or abs(off) > PEAK_BOUND else "ok"
    return Scored(Line(name, "peak", own.bytes, "B", status, reason, total, off), worst, phase)


_NAMED = ("shape", "ws", "B", "T", "ac", "reshard", "mp", "opt", "tp", "hsdp", "fused", "offload")


def _marks(case: TrackerCase, marks: dict[str, Any]) -> tuple[list[str], float | None]:
    """What differs at the marks, and the worst difference in percent; None without marks."""
    own, wrong, worst = tracker_marks(case), [], 0.0
    found = {tag: _sum(devices) for tag, devices in marks.items()}
    for tag, categories in found.items():
        for category, predicted in _wanted(own, tag).items():
            expected = categories.get(category, 0)
            if predicted != expected:
                wrong.append(f"{tag} {category}: {predicted} for {expected}")
                worst = max(worst, 100.0 * abs(predicted - expected) / max(expected, 1))
    return wrong, worst if found else None


def _wanted(own: TrackerMarks, tag: str) -> dict[str, int]:
    held = tag.endswith(("after bwd", "after step"))
    return {
        "Sharded Param": own.sharded_params,
        "Unsharded Param": own.unsharded_params if tag.endswith("after fwd") else 0,
        "Sharded Grad": own.sharded_grads if held else 0,
        "OptState": own.optimizer,
    }


def _coarse(phase: str) -> str:
    return "step" if phase == "step" else "backward" if "backward" in phase else phase


def _implied(found: dict[str, int], case: TrackerCase) -> str | None:
    """Foreach temporaries in the optimizer's state: inside the step. A reduce-scatter: backward."""
    state = tracker_marks(case).optimizer
    if state and found.get("OptState", 0) > state:
        return "step"
    return "backward" if found.get("Reduce Scatter", 0) else None


def _sum(devices: dict[str, Any]) -> dict[str, int]:
    """Categories summed over devices."""
    total: dict[str, int] = {}
    for categories in devices.values():
        for category, size in categories.items():
            total[category] = total.get(category, 0) + int(size)
    return total
