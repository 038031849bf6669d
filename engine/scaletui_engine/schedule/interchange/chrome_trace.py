"""A timeline as a Chrome trace, which Perfetto opens too: bars, arrows for messages, live chunks counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scaletui_engine.schedule.activations import Activations, activations_of
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.schedule.timeline import Timeline

SLOT_US: Final = 1000.0
"""Microseconds drawn for one unit of time when the unit is not the second."""
SECOND_US: Final = 1e6

_CATEGORIES: Final = {
    Kind.FORWARD: "forward",
    Kind.INPUT_GRAD: "input_grad",
    Kind.WEIGHT_GRAD: "weight_grad",
    Kind.BACKWARD: "backward",
}


def chrome_trace(timeline: Timeline, unit_us: float = SLOT_US) -> dict[str, Any]:
    """The object to write as JSON (Trace Event Format: "X" bars, "s"/"f" arrows, "C" counters, in us)."""
    events = [*_names(timeline), *_bars(timeline, unit_us), *_arrows(timeline, unit_us)]
    events += _counters(timeline, activations_of(timeline), unit_us)
    other = {"schedule": timeline.schedule.name, "estimated": timeline.times.estimated}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": other}


def _names(timeline: Timeline) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": timeline.schedule.name}}
    for rank in range(timeline.schedule.ranks):
        yield {"ph": "M", "pid": 0, "tid": rank, "name": "thread_name", "args": {"name": f"rank {rank}"}}
        yield {"ph": "M", "pid": 0, "tid": rank, "name": "thread_sort_index", "args": {"sort_index": rank}}


def _bars(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    table = timeline.table
    for index in np.flatnonzero(~table.joined).tolist():
        actions = [table.action(i) for i in range(index, int(table.last[index]) + 1)]
        start, end = float(timeline.start[index]), float(timeline.end[index])
        yield {
            "ph": "X",
            "pid": 0,
            "tid": int(table.rank[index]),
            "name": " & ".join(map(str, actions)),
            "cat": _CATEGORIES[actions[0].kind] if len(actions) == 1 else "overlapped",
            "ts": start * unit_us,
            "dur": (end - start) * unit_us,
            "args": {"stage": actions[0].stage, "microbatch": actions[0].microbatch},
        }


def _arrows(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    """One message between ranks; it leaves inside the producer's bar and arrives inside the consumer's."""
    table, awaited = timeline.table, timeline.needs.action
    crossing = (awaited != NOTHING) & (table.rank != table.rank[awaited])
    for number, index in enumerate(np.flatnonzero(crossing).tolist()):
        other = int(awaited[index])
        kind = "activation" if table.kind[index] == Kind.FORWARD else "gradient"
        common = {"pid": 0, "cat": "message", "name": kind, "id": number}
        sent, received = float(timeline.end[other]), float(timeline.start[index])
        yield {**common, "ph": "s", "tid": int(table.rank[other]), "ts": sent * unit_us}
        yield {**common, "ph": "f", "bp": "e", "tid": int(table.rank[index]), "ts": received * unit_us}


def _counters(timeline: Timeline, live: Activations, unit_us: float) -> Iterator[dict[str, Any]]:
    table = timeline.table
    for index in np.flatnonzero(~table.joined).tolist():
        name = f"live chunks, rank {int(table.rank[index])}"
        for time, level in ((timeline.start, live.during), (timeline.end, live.after)):
            at = {"ph": "C", "pid": 0, "name": name, "ts": float(time[index]) * unit_us}
            yield {**at, "args": {"chunks": float(level[index])}}
