"""Validation of any order before it is run: every fault, with rank, cell and numbers."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import decode
from scaletui_engine.schedule.fault import Fault, FaultKind, OrderError
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.table import Finder, Table, finder_of, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scaletui_engine.schedule.schedule import Schedule

MOST_FAULTS: Final = 100
"""Faults that are spelled out; more of the same teach nothing."""
_COUNTABLE: Final = 1 << 16


def check(schedule: Schedule) -> tuple[Fault, ...]:
    """The faults of an order, at most `MOST_FAULTS`; empty when no row is wrong in itself.

    Whether the ranks wait for each other in a circle is seen when it is simulated (`DeadlockError`).
    """
    table = table_of(schedule)
    return tuple(islice(check_table(schedule, table), MOST_FAULTS))


def require_valid(schedule: Schedule, table: Table) -> None:
    """Raises OrderError with the faults."""
    faults = tuple(islice(check_table(schedule, table), MOST_FAULTS))
    if faults:
        raise OrderError(faults)


def check_table(schedule: Schedule, table: Table) -> Iterator[Fault]:
    """The faults in the order in which they can be understood: places first, then counts, then sequence."""
    for rank in np.flatnonzero(np.diff(table.row) == 0).tolist():
        yield Fault(FaultKind.MISSING, f"rank {rank} has no action", rank)
    if (few := _far_too_few(schedule, table)) is not None:
        yield few
        return
    compute = table.kind <= Kind.BACKWARD
    in_range = (table.stage < schedule.stages) & (table.microbatch >= 0) & (table.microbatch < schedule.units)
    bad = np.flatnonzero(compute & ~in_range)
    if bad.size:
        yield from (_out_of_range(schedule, table, index) for index in bad.tolist())
        yield from _counts(schedule, table, compute & in_range)
        return
    yield from _places(schedule, table)
    yield from _counts(schedule, table, compute)
    yield from _sequence(table, finder_of(table, schedule.stages, schedule.units))


def _far_too_few(schedule: Schedule, table: Table) -> Fault | None:
    """Spares the counting of a file whose numbers promise millions of actions that it does not have."""
    places, actions = schedule.stages * schedule.units, len(table.code)
    if places <= max(actions, _COUNTABLE):
        return None
    need = f"{schedule.stages} stages x {schedule.units} microbatches need at least {2 * places} actions"
    return Fault(FaultKind.MISSING, f"{need}, but the order has {actions}")


def _at(table: Table, index: int) -> tuple[int, int]:
    return int(table.rank[index]), table.cell(index)


def _out_of_range(schedule: Schedule, table: Table, index: int) -> Fault:
    rank, cell = _at(table, index)
    known = f"{schedule.stages} stages (0 to {schedule.stages - 1}) and {schedule.units} microbatches"
    found = f"rank {rank}, step {cell}: {table.action(index)}, but the schedule has {known}"
    return Fault(FaultKind.RANGE, f"{found} (0 to {schedule.units - 1})", rank, cell)


def _places(schedule: Schedule, table: Table) -> Iterator[Fault]:
    allowed = np.zeros((schedule.stages, schedule.ranks), dtype=np.bool_)
    for stage, ranks in enumerate(schedule.placement.ranks_of):
        allowed[stage, list(ranks)] = True
    at = np.minimum(table.stage, schedule.stages - 1)
    for index in np.flatnonzero(~allowed[at, table.rank]).tolist():
        rank, cell = _at(table, index)
        held = " and ".join(str(r) for r in schedule.placement.ranks_of[int(at[index])])
        message = (
            f"rank {rank}, step {cell}: {table.action(index)}, but stage {int(at[index])} is on rank {held}"
        )
        yield Fault(FaultKind.PLACEMENT, message, rank, cell)


def _counts(schedule: Schedule, table: Table, valid: NDArray[np.bool_]) -> Iterator[Fault]:
    size = schedule.stages * schedule.units
    index = np.flatnonzero(valid)
    key = table.stage[index] * schedule.units + table.microbatch[index]
    count = [np.bincount(key[table.kind[index] == kind], minlength=size) for kind in range(4)]
    runs, halves, wholes = (
        count[Kind.FORWARD],
        (count[Kind.INPUT_GRAD], count[Kind.WEIGHT_GRAD]),
        count[Kind.BACKWARD],
    )
    good = (runs == 1) & (halves[0] == halves[1]) & (halves[0] + wholes == 1)
    for place in np.flatnonzero(~good).tolist():
        stage, microbatch = divmod(place, schedule.units)
        yield from _miscount(stage, microbatch, [int(count[kind][place]) for kind in range(4)])


def _miscount(stage: int, microbatch: int, count: list[int]) -> Iterator[Fault]:
    def name(kind: Kind) -> str:
        return str(decode(codes.encode(kind, stage, microbatch)))

    where = f"stage {stage}, microbatch {microbatch}"
    for kind in range(4):
        if count[kind] > 1:
            yield Fault(FaultKind.REPEATED, f"{where}: {name(Kind(kind))} {count[kind]} times, wanted once")
    if count[Kind.FORWARD] == 0:
        yield Fault(FaultKind.MISSING, f"{where}: no {name(Kind.FORWARD)}")
    halves, whole = (count[Kind.INPUT_GRAD], count[Kind.WEIGHT_GRAD]), count[Kind.BACKWARD]
    if whole and any(halves):
        yield Fault(FaultKind.REPEATED, f"{where}: {name(Kind.BACKWARD)} beside its halves I and W")
    elif not whole and not any(halves):
        yield Fault(FaultKind.MISSING, f"{where}: no {name(Kind.BACKWARD)}, nor I and W")
    elif not whole and not halves[1]:
        yield Fault(FaultKind.UNSPLIT, f"{where}: {name(Kind.INPUT_GRAD)} without {name(Kind.WEIGHT_GRAD)}")
    elif not whole and not halves[0]:
        yield Fault(FaultKind.UNSPLIT, f"{where}: {name(Kind.WEIGHT_GRAD)} without {name(Kind.INPUT_GRAD)}")


def _sequence(table: Table, finder: Finder) -> Iterator[Fault]:
    yield from _after(table, finder.gradient, finder.forward)
    yield from _after(table, finder.weight, finder.gradient)


def _after(table: Table, later: NDArray[np.int64], earlier: NDArray[np.int64]) -> Iterator[Fault]:
    both = (later >= 0) & (earlier >= 0)
    second, first = later[both], earlier[both]
    wrong = (table.rank[second] != table.rank[first]) | (second < first)
    wrong |= (second != first) & (table.last[second] == table.last[first])
    for index, other in zip(second[wrong].tolist(), first[wrong].tolist(), strict=True):
        rank, cell = _at(table, index)
        found = f"rank {rank}, step {cell}: {table.action(index)}"
        if table.rank[other] != rank:
            message = f"{found}, but {table.action(other)} ran on rank {int(table.rank[other])}"
            yield Fault(FaultKind.APART, message, rank, cell)
        elif table.last[index] == table.last[other]:
            message = f"{found} runs in one pair with {table.action(other)}, which it needs"
            yield Fault(FaultKind.EARLY, message, rank, cell)
        else:
            message = f"{found} runs before {table.action(other)}, which is at step {table.cell(other)}"
            yield Fault(FaultKind.EARLY, message, rank, cell)
