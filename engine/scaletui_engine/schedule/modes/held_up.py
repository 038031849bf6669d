"""Sends that a waiting receive holds up: the head-of-line blocking of pytorch/pytorch#188833."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.modes.wiring import MESSAGES, RECEIVES, SENDS, wire

if TYPE_CHECKING:
    from scaletui_engine.schedule.modes.lanes import LaneTimeline
    from scaletui_engine.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True)
class HeldUp:
    """A SEND that was ready and had to wait behind a RECV of its rank's message lane."""

    rank: int
    receive: str
    send: str
    delay: float


def held_up(schedule: Schedule, timeline: LaneTimeline) -> tuple[HeldUp, ...]:
    """The longest delay first; `timeline` is the schedule's own, without a rendezvous."""
    wiring = wire(schedule, timeline.table, rendezvous=False)
    found: list[HeldUp] = []
    for lane in wiring.lanes():
        if not lane or Kind(int(timeline.table.kind[lane[0]])) not in MESSAGES:
            continue
        for first, second in pairwise(lane):
            if wiring.kind(first) in RECEIVES and wiring.kind(second) in SENDS:
                ready = max((float(timeline.end[other]) for other in wiring.needs(second)), default=0.0)
                if (delay := float(timeline.start[second]) - ready) > 0:
                    rank = int(timeline.table.rank[first])
                    receive, send = (str(timeline.table.action(index)) for index in (first, second))
                    found.append(HeldUp(rank, receive, send, delay))
    return tuple(sorted(found, key=lambda item: -item.delay))
