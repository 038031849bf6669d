"""Whether the messages of an order alone can deadlock, whatever it computes; rows may be cut short."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.deadlock import DeadlockError
from scaletui_engine.schedule.lowering.peers import mate_of
from scaletui_engine.schedule.modes.heads import heads_of
from scaletui_engine.schedule.modes.network import longest_paths
from scaletui_engine.schedule.modes.wiring import MESSAGES, network_of, wire
from scaletui_engine.schedule.schedule import frozen_rows
from scaletui_engine.schedule.table import table_of
from scaletui_engine.schedule.times import UNIT_TIMES

if TYPE_CHECKING:
    from scaletui_engine.schedule.schedule import Schedule


def require_messages_flow(schedule: Schedule, *, rendezvous: bool) -> None:
    """Raises DeadlockError when the SEND and RECV of the rows wait for each other in a circle.

    A message of which one end is missing is left out: the rest of its row may hold it.
    """
    present = {code for row in schedule.rows for code in row.tolist()}
    kept = [
        [code for code in row[np.isin(codes.kinds(row), MESSAGES)].tolist() if mate_of(code) in present]
        for row in schedule.rows
    ]
    messages = replace(schedule, rows=frozen_rows(kept))
    wiring = wire(messages, table_of(messages), rendezvous=rendezvous)
    paths = longest_paths(network_of(wiring, messages, UNIT_TIMES))
    if min(paths.end, default=0.0) < 0:
        raise DeadlockError(heads_of(wiring, paths))
