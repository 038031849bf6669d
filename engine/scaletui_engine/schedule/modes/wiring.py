"""From a lowered schedule to a network of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.schedule import code as codes
from scaletui_engine.schedule.action import decode
from scaletui_engine.schedule.fault import Fault, FaultKind, OrderError
from scaletui_engine.schedule.kind import Kind
from scaletui_engine.schedule.lowering import compute_only
from scaletui_engine.schedule.lowering.messages import needed_by
from scaletui_engine.schedule.lowering.peers import mate_of, stage_of
from scaletui_engine.schedule.modes.network import Network
from scaletui_engine.schedule.simulate import costs
from scaletui_engine.schedule.table import table_of
from scaletui_engine.schedule.times import time_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.schedule import Schedule
    from scaletui_engine.schedule.table import Table
    from scaletui_engine.schedule.times import Times

SENDS: Final = (Kind.SEND_F, Kind.SEND_B)
RECEIVES: Final = (Kind.RECV_F, Kind.RECV_B)
MESSAGES: Final = (*SENDS, *RECEIVES)


@dataclass(frozen=True, slots=True)
class Wiring:
    """The actions of a lowered table as nodes."""

    table: Table
    stages: int
    rendezvous: bool
    """A SEND and its RECV are one node, and a rank has one lane; else messages have a lane of their own."""
    where: dict[Code, int]
    """Index of every compute action and message."""
    node: list[int]
    """Node of every action; the two of a pair share one."""

    def kind(self, index: int) -> Kind:
        """Kind of an action."""
        return Kind(int(self.table.kind[index]))

    def needs(self, index: int) -> tuple[int, ...]:
        """Where an action's data comes from: a SEND's from its producer, a RECV's from its SEND.

        A compute action takes its RECV where there is one, else the producer's result.
        """
        code, kind = int(self.table.code[index]) & ~codes.OVERLAP_BIT, self.kind(index)
        if kind in RECEIVES:
            return () if self.rendezvous else (self.where[mate_of(code)],)
        stage, microbatch = stage_of(code), code >> codes.MICROBATCH_SHIFT
        if kind == Kind.SEND_F:
            return self._first(codes.forward(stage, microbatch))
        if kind == Kind.SEND_B:
            return self._first(codes.input_grad(stage, microbatch), codes.backward(stage, microbatch))
        if not kind.computes:
            return ()
        receive = codes.encode(Kind.RECV_F if kind == Kind.FORWARD else Kind.RECV_B, stage, microbatch)
        return self._first(receive, *needed_by(self.stages, code)) if kind != Kind.WEIGHT_GRAD else ()

    def _first(self, *candidates: Code) -> tuple[int, ...]:
        return next(((self.where[code],) for code in candidates if code in self.where), ())

    def lanes(self) -> Iterator[list[int]]:
        """Indices of the actions that follow each other."""
        messages = np.isin(self.table.kind, MESSAGES)
        row: list[int] = self.table.row.tolist()
        for first, stop in pairwise(row):
            if self.rendezvous:
                yield list(range(first, stop))
            else:
                yield [index for index in range(first, stop) if not messages[index]]
                yield [index for index in range(first, stop) if messages[index]]


def require_messages(schedule: Schedule) -> None:
    """Raises OrderError for a SEND without its RECV, a RECV without its SEND, or either twice."""
    table = table_of(schedule)
    _check_messages(table, _places(table), _messages(table))


def _places(table: Table) -> dict[Code, int]:
    """Index of every compute action and message."""
    unique = np.flatnonzero(table.kind <= Kind.RECV_B).tolist()
    return {int(table.code[index]) & ~codes.OVERLAP_BIT: index for index in unique}


def _messages(table: Table) -> list[int]:
    found: list[int] = np.flatnonzero(np.isin(table.kind, MESSAGES)).tolist()
    return found


def wire(schedule: Schedule, table: Table, *, rendezvous: bool) -> Wiring:
    """Raises OrderError for a SEND without its RECV, a RECV without its SEND, or either twice."""
    node = list(range(len(table.code)))
    for index in np.flatnonzero(table.joined).tolist():
        node[index] = node[index - 1]
    where, messages = _places(table), _messages(table)
    _check_messages(table, where, messages)
    if rendezvous:
        for index in messages:
            if table.kind[index] in RECEIVES:
                node[index] = node[where[mate_of(int(table.code[index]))]]
    return Wiring(table, schedule.stages, rendezvous, where, node)


def network_of(wiring: Wiring, schedule: Schedule, times: Times) -> Network:
    """Costs and orders of the nodes."""
    node, table = wiring.node, wiring.table
    spread = time_table(times, schedule.stages, schedule.units)
    cost = [0.0] * len(node)
    kept = np.flatnonzero(table.kind <= Kind.BACKWARD).tolist()
    computed = costs(table_of(compute_only(schedule)), spread, times, schedule.slices).tolist()
    for index, took in zip(kept, computed, strict=True):
        cost[node[index]] += took
    for index in np.flatnonzero(np.isin(table.kind, SENDS)).tolist():
        ahead = wiring.kind(index) == Kind.SEND_F
        cost[node[index]] = float(spread.comm[table.stage[index] - (0 if ahead else 1)])
    before: list[list[int]] = [[] for _ in node]
    for lane in wiring.lanes():
        for first, second in pairwise(lane):
            if node[first] != node[second]:
                before[node[second]].append(node[first])
    for index in range(len(node)):
        before[node[index]] += [node[other] for other in wiring.needs(index)]
    return Network(cost, before)


def _check_messages(table: Table, where: dict[Code, int], messages: list[int]) -> None:
    faults: list[Fault] = []
    for index in messages:
        code, rank, cell = int(table.code[index]), int(table.rank[index]), table.cell(index)
        if where[code] != index:
            faults.append(
                Fault(FaultKind.REPEATED, f"rank {rank}, step {cell}: {decode(code)} again", rank, cell)
            )
        elif mate_of(code) not in where:
            message = f"rank {rank}, step {cell}: {decode(code)} has no {decode(mate_of(code))}"
            faults.append(Fault(FaultKind.MISSING, message, rank, cell))
    if faults:
        raise OrderError(tuple(faults))
