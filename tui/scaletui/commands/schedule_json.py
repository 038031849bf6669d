"""`scaletui schedule --json`: the keys that scripts rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaletui_engine.schedule.action import leaves
from scaletui_engine.schedule.weights import weights_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scaletui.commands.schedule_request import Asked
    from scaletui_engine.schedule.optimizer_step import OptimizerStep
    from scaletui_engine.schedule.result import Result


def as_json(result: Result, found: Asked) -> dict[str, Any]:
    """Times in `unit`: "s" where they were estimated from a scenario, else the unit of what was given."""
    timeline, bubble = result.timeline, result.bubble
    schedule = timeline.schedule
    return {
        "name": schedule.name,
        "ranks": schedule.ranks,
        "stages": schedule.stages,
        "microbatches": schedule.shape.microbatches,
        "chunks": schedule.shape.chunks,
        "slices": schedule.slices,
        "unit": "s" if timeline.times.estimated else "t",
        "estimated": timeline.times.estimated,
        "assumptions": list(found.assumptions),
        "layout": found.layout or None,
        "makespan": whole(timeline.makespan),
        "max_span": whole(float(timeline.spans.max())),
        "ideal": whole(bubble.ideal),
        "bubble": {"A": bubble.over_ideal, "B": bubble.over_makespan, "C": bubble.zero_bubble},
        "idle": _list(bubble.per_rank),
        "idle_in_span": _list(bubble.within_span),
        "peak_chunks": _list(result.activations.peak),
        "peak_chunks_freed_by_input_grad": _list(result.early_activations.peak),
        "peak_bytes": None if found.deltas is None else _list(result.memory.peak),
        "peak_memory": None if found.memory is None else _list(result.memory.peak),
        "weight_versions": list(schedule.weight_versions) or [1] * schedule.ranks,
        "weights_bytes": _list(weights_bytes(schedule, found.weights)) if found.weights else None,
        "optimizer": None if found.step is None else _step(found.step),
        "actions": [_row(result, rank) for rank in range(schedule.ranks)],
    }


def _step(step: OptimizerStep) -> dict[str, Any]:
    return {"start": _list(step.start), "end": _list(step.end), "period": whole(step.period)}


def _row(result: Result, rank: int) -> list[dict[str, Any]]:
    """Every cell of a rank; a pair is one, named as PyTorch names it."""
    timeline = result.timeline
    first, stop = timeline.table.row[rank : rank + 2].tolist()
    index = first
    row: list[dict[str, Any]] = []
    for step in timeline.schedule.steps(rank):
        times = (whole(float(side[index])) for side in (timeline.start, timeline.end))
        row.append(dict(zip(("action", "start", "end"), (str(step), *times), strict=True)))
        index += len(leaves(step))
    assert index == stop
    return row


def _list(values: NDArray[np.float64] | tuple[float, ...]) -> list[float | int]:
    return [whole(float(value)) for value in values]


def whole(value: float) -> float | int:
    """A number without ".0" where it is whole."""
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value
