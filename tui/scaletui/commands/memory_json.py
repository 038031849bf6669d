"""The keys that `scaletui memory --json` adds for each thing that was asked; bytes are whole numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from scaletui.commands.memory_extras import Extras
    from scaletui.state.answer import Answer
    from scaletui.view.memory_report_host import HostNeeds
    from scaletui_engine.memory.budget import MemoryBudget
    from scaletui_engine.memory.explain import Explanation
    from scaletui_engine.memory.fixes import Fix
    from scaletui_engine.memory.solve import Solution
    from scaletui_engine.memory.timeline import StepTimeline
    from scaletui_engine.scenario import Scenario


def extras_json(args: Namespace, here: Answer, found: Extras) -> dict[str, Any]:
    """One key for each option that was given; `host` also where something is offloaded."""
    keys: dict[str, Any] = {}
    if found.study is not None and args.timeline:
        keys["timeline"] = _timeline(found.study.step)
    if found.study is not None and args.explain:
        keys["explain"] = _explanation(found.study.explanation)
    if found.solution is not None:
        keys["solve"] = _solution(here, found.solution)
    if found.fixes is not None:
        keys["fixes"] = _fixes(found.fixes)
    if found.other is not None:
        keys["compare"] = _compared(here, found.other)
    if found.host is not None:
        keys["host"] = _host(found.host)
    if found.tools is not None:
        keys["tools"] = [asdict(one) for one in found.tools]
    return keys


def offload_json(scenario: Scenario) -> dict[str, Any]:
    """The key that `scaletui memory --json` adds unasked: `host`, where something is offloaded."""
    from scaletui.commands.memory_extras import host_needs, is_offloaded

    return {"host": _host(host_needs(scenario))} if is_offloaded(scenario) else {}


def _timeline(step: StepTimeline) -> dict[str, Any]:
    return {
        "stage": step.rank,
        "microbatches": step.microbatches,
        "shown": step.shown,
        "peak": step.peak,
        "points": [
            {
                "time": point.time,
                "phase": point.phase,
                "microbatch": point.microbatch,
                "layer": point.layer,
                "parts": dict(point.parts.items()),
                "bytes": point.parts.total,
            }
            for point in step.points
        ],
    }


def _explanation(found: Explanation) -> dict[str, Any]:
    return {
        "stage": found.stage,
        "phase": found.phase,
        "items": [
            {
                "part": item.part,
                "name": item.name,
                "bytes": item.bytes,
                "formula": item.formula.text,
                "source": item.formula.source,
                "tensors": [asdict(tensor) for tensor in item.tensors],
            }
            for item in found.items
        ],
    }


def _solution(here: Answer, found: Solution) -> dict[str, Any]:
    from scaletui_engine.edit import value_of

    return {
        "field": found.field,
        "value": found.value,
        "now": value_of(here.scenario, found.field),
        "bound": found.bound,
        "needed_bytes": None if found.budget is None else found.budget.peak.needed_bytes,
        "headroom_bytes": None if found.budget is None else found.budget.headroom_bytes,
    }


def _fixes(found: Sequence[Fix]) -> list[dict[str, Any]]:
    return [
        {
            "id": fix.id,
            "field": fix.field,
            "value": fix.value,
            "saved_bytes": fix.saved_bytes,
            "headroom_bytes": fix.budget.headroom_bytes,
            "fits": fix.fits,
            "cost": {"why": fix.cost.why, "percent": fix.cost.percent, "bytes": fix.cost.bytes},
        }
        for fix in found
    ]


def _compared(here: Answer, other: Answer) -> dict[str, Any]:
    """`difference` is the other less this one; `fields` maps a field to [this, other]."""
    from scaletui.commands.memory import as_json
    from scaletui.view.budget_compared import differences

    fields = differences(here.scenario, other.scenario)
    return {
        "other": as_json(other.scenario, other.budget),
        "fields": {field: [mine, theirs] for field, mine, theirs in fields},
        "difference": _difference(here.budget, other.budget),
    }


def _difference(here: MemoryBudget, other: MemoryBudget) -> dict[str, Any]:
    one, two = here.peak, other.peak
    theirs = dict(two.parts.items())
    return {
        "parts": {part: theirs[part] - amount for part, amount in one.parts.items()},
        "peak_bytes": two.peak_bytes - one.peak_bytes,
        "needed_bytes": two.needed_bytes - one.needed_bytes,
        "capacity_bytes": other.capacity_bytes - here.capacity_bytes,
        "headroom_bytes": other.headroom_bytes - here.headroom_bytes,
    }


def _host(needs: HostNeeds) -> dict[str, Any]:
    budget = needs.budget
    return {
        "offloaded": needs.is_offloaded,
        "states_bytes": [budget.states.low, budget.states.high],
        "pinned_bytes": budget.pinned,
        "activations_bytes": budget.activations,
        "nvme_bytes": budget.nvme,
        "needed_bytes": [budget.low, budget.high],
        "capacity_bytes": budget.capacity,
        "fits": budget.fits,
        "loading_bytes": asdict(needs.loading),
        "saving_bytes": asdict(needs.saving),
    }
