"""How messages travel, and the timeline that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scaletui_engine.compat import StrEnum
from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.lowering import Passes, lower
from scaletui_engine.schedule.modes.lanes import simulate_lanes
from scaletui_engine.schedule.modes.launch import simulate_launched_late
from scaletui_engine.schedule.modes.wiring import MESSAGES
from scaletui_engine.schedule.simulate import simulate
from scaletui_engine.schedule.times import UNIT_TIMES, Times

if TYPE_CHECKING:
    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.timeline import Timeline


class Transport(StrEnum):
    """What a message costs the ranks at its ends."""

    ASYNC = "async"
    """Nothing: it leaves when its producer ends and is there after its time."""
    BLOCKING = "blocking"
    """Both ranks: they meet, and wait for each other and for the message (a rendezvous)."""
    IN_ORDER = "in-order"
    """One lane a rank, in the order of the row: a receive that waits holds up the sends behind it."""
    LATE_LAUNCH = "late-launch"
    """It is launched after the next compute action, when that can start at once
    (sail-sg/zero-bubble-pipeline-parallelism#73)."""


def simulate_transport(
    schedule: Schedule, times: Times = UNIT_TIMES, transport: Transport = Transport.ASYNC
) -> Timeline:
    """The timeline of the compute actions; a schedule without messages is lowered first where they matter.

    Raises what `simulate` raises; DeadlockError where a transport can deadlock.
    """
    if transport is Transport.ASYNC:
        return simulate(schedule, times)
    if transport is Transport.LATE_LAUNCH:
        return simulate_launched_late(schedule, times)
    lowered = schedule if _has_messages(schedule) else lower(schedule, Passes(fsdp=False))
    return simulate_lanes(lowered, times, rendezvous=transport is Transport.BLOCKING).compute


def _has_messages(schedule: Schedule) -> bool:
    return any(bool(np.isin(codes.kinds(row), MESSAGES).any()) for row in schedule.rows)
