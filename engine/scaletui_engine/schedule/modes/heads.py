"""Where every rank stands when lanes have stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.deadlock import Head
from scaletui_engine.schedule.lowering.peers import mate_of
from scaletui_engine.schedule.modes.wiring import MESSAGES, RECEIVES

if TYPE_CHECKING:
    from scaletui_engine.schedule.modes.network import Paths
    from scaletui_engine.schedule.modes.wiring import Wiring


def heads_of(wiring: Wiring, paths: Paths) -> tuple[Head, ...]:
    """One head a rank that has not finished: its first message that waits, else its first compute action."""
    stuck: dict[int, int] = {}
    for lane in wiring.lanes():
        first = next((index for index in lane if paths.end[wiring.node[index]] < 0), None)
        if first is not None:
            stuck[int(wiring.table.rank[first])] = first
    return tuple(_head(wiring, paths, index) for _, index in sorted(stuck.items()))


def _head(wiring: Wiring, paths: Paths, index: int) -> Head:
    other = _awaited(wiring, paths, index)
    table = wiring.table
    return Head(
        int(table.rank[index]), str(table.action(index)), str(table.action(other)), int(table.rank[other])
    )


def _awaited(wiring: Wiring, paths: Paths, index: int) -> int:
    kind = wiring.kind(index)
    if kind in RECEIVES or (wiring.rendezvous and kind in MESSAGES):
        return wiring.where[mate_of(int(wiring.table.code[index]))]
    last = int(wiring.table.last[index])
    waits = (other for part in (index, last) for other in wiring.needs(part))
    return next((other for other in waits if paths.end[wiring.node[other]] < 0), index)
