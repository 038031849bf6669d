"""A timeline as a Chrome trace, which Perfetto opens too: bars, arrows for messages, live chunks counted."""

from __future__ import annotations

import json
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


def chrome_trace(timeline: Timeline, unit_us: float = SLOT_US) -> Iterator[str]:
    """The file, piece by piece (Trace Event Format: "X" bars, "s" and "f" arrows, "C" counters, in us)."""
    other = {"schedule": timeline.schedule.name, "estimated": timeline.times.estimated}
    yield f'{{"displayTimeUnit": "ms", "otherData": {json.dumps(other)}, "traceEvents": [\n'
    before = ""
    for event in _events(timeline, unit_us):
        yield before + json.dumps(event)
        before = ",\n"
    yield "\n]}\n"


def _events(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    yield from _names(timeline)
    yield from _bars(timeline, unit_us)
    yield from _arrows(timeline, unit_us)
    yield from _counters(timeline, activations_of(timeline), unit_us)


def _names(timeline: Timeline) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": timeline.schedule.name}}
    for rank in range(timeline.schedule.ranks):
        yield {"ph": "M", "pid": 0, "tid": rank, "name": "thread_name", "args": {"name": f"rank {rank}"}}
        yield {"ph": "M", "pid": 0, "tid": rank, "name": "thread_sort_index", "args": {"sort_index": rank}}


def _bars(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    table = timeline.table
    starts, ends = (timeline.start * unit_us).tolist(), (timeline.end * unit_us).tolist()
    ranks, lasts = table.rank.tolist(), table.last.tolist()
    for index in np.flatnonzero(~table.joined).tolist():
        actions = [table.action(i) for i in range(index, lasts[index] + 1)]
        yield {
            "ph": "X",
            "pid": 0,
            "tid": ranks[index],
            "name": " & ".join(map(str, actions)),
            "cat": _CATEGORIES[actions[0].kind] if len(actions) == 1 else "overlapped",
            "ts": starts[index],
            "dur": ends[index] - starts[index],
            "args": {"stage": actions[0].stage, "microbatch": actions[0].microbatch},
        }


def _arrows(timeline: Timeline, unit_us: float) -> Iterator[dict[str, Any]]:
    """One message between ranks; it leaves inside the producer's bar and arrives inside the consumer's."""
    table, awaited = timeline.table, timeline.needs.action
    crossing = np.flatnonzero((awaited != NOTHING) & (table.rank != table.rank[awaited]))
    other = awaited[crossing]
    sent, received = timeline.end[other] * unit_us, timeline.start[crossing] * unit_us
    ahead = table.kind[crossing] == Kind.FORWARD
    columns = (table.rank[other], sent, table.rank[crossing], received, ahead)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, (sender, left, receiver, arrived, forward) in enumerate(rows):
        name = "activation" if forward else "gradient"
        common = {"pid": 0, "cat": "message", "name": name, "id": number}
        yield {**common, "ph": "s", "tid": sender, "ts": left}
        yield {**common, "ph": "f", "bp": "e", "tid": receiver, "ts": arrived}


def _counters(timeline: Timeline, live: Activations, unit_us: float) -> Iterator[dict[str, Any]]:
    cells = np.flatnonzero(~timeline.table.joined)
    columns = (timeline.table.rank, timeline.start * unit_us, live.during, timeline.end * unit_us, live.after)
    for rank, start, during, end, after in zip(*(column[cells].tolist() for column in columns), strict=True):
        name = f"live chunks, rank {rank}"
        yield {"ph": "C", "pid": 0, "name": name, "ts": start, "args": {"chunks": during}}
        yield {"ph": "C", "pid": 0, "name": name, "ts": end, "args": {"chunks": after}}
