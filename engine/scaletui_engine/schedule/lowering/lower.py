"""The passes in PyTorch's order (torch/distributed/pipelining/schedules.py, _prepare_schedule_with_comms)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.check import require_valid
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.lowering.defer import defer_receives
from scaletui_engine.schedule.lowering.merge import merge_halves
from scaletui_engine.schedule.lowering.messages import add_messages
from scaletui_engine.schedule.lowering.peers import homes_of
from scaletui_engine.schedule.lowering.sharded import add_gradient_reduction, add_unshard
from scaletui_engine.schedule.schedule import Schedule, frozen_rows
from scaletui_engine.schedule.table import table_of

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code


@dataclass(frozen=True, slots=True)
class Passes:
    """Which passes to run."""

    merge: bool = False
    """I followed by its own W becomes B."""
    fsdp: bool = True
    """UNSHARD, RESHARD and REDUCE_GRAD."""
    messages: bool = True
    """SEND and RECV."""
    defer: bool = False
    """RECV as late as may be, the lower rank receiving first (pytorch/pytorch#178815)."""


def lower(schedule: Schedule, passes: Passes = Passes()) -> Schedule:
    """The schedule with its communication actions.

    Raises OrderError for an order that is wrong in itself, DeadlockError when no order of messages serves it.
    """
    plain = compute_only(schedule)
    require_valid(plain, table_of(plain))
    rows: list[list[Code]] = [row.tolist() for row in plain.rows]
    if passes.merge:
        rows = [merge_halves(row) for row in rows]
    if passes.fsdp:
        rows = [add_gradient_reduction(add_unshard(row)) for row in rows]
    if passes.messages:
        homes = homes_of(schedule)
        rows = add_messages(rows, homes)
        if passes.defer:
            rows = [defer_receives(row, rank, homes) for rank, row in enumerate(rows)]
    return replace(schedule, rows=frozen_rows(rows))


def compute_only(schedule: Schedule) -> Schedule:
    """The schedule without its communication actions; itself when it has none."""
    keep = [codes.kinds(row) <= Kind.BACKWARD for row in schedule.rows]
    if all(mask.all() for mask in keep):
        return schedule
    kept = (row[mask] for row, mask in zip(schedule.rows, keep, strict=True))
    return replace(schedule, rows=frozen_rows(kept))
