"""The board on which the zero-bubble search lays its actions: clocks, memory and idle time of every rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from scaletui_engine.schedule.times import TimeTable

F: Final = 0
INPUT: Final = 1
W: Final = 2


@dataclass(frozen=True, slots=True)
class Memory:
    """Microbatches of activations that an action adds or frees, and the most a rank may hold."""

    limit: float
    deltas: tuple[float, float, float]
    """Of F, I and W."""

    def needed(self, kind: int) -> float:
        """What must be free before an action: a forward leaves room for an I that adds to the memory."""
        return self.deltas[kind] + (max(self.deltas[INPUT], 0.0) if kind == F else 0.0)


def _rows(count: int) -> list[list[float]]:
    return [[] for _ in range(count)]


class Board:
    """Counts microbatches by kind and rank; an action starts as soon as its rank and its input are there."""

    def __init__(self, table: TimeTable, microbatches: int, memory: Memory) -> None:
        self.ranks = len(table.comm)
        self.microbatches = microbatches
        self.memory = memory
        self.cost: list[list[float]] = [list(map(float, row)) for row in table.kinds[:3]]
        self.comm: list[float] = list(map(float, table.comm))
        self.clock = [0.0] * self.ranks
        self.held = [0.0] * self.ranks
        self.idle = [0.0] * self.ranks
        self.count = [[0] * self.ranks for _ in range(3)]
        self.end: tuple[list[list[float]], ...] = (_rows(self.ranks), _rows(self.ranks), _rows(self.ranks))
        self.order: list[list[int]] = [[] for _ in range(self.ranks)]
        self.first_start = [0.0] * self.ranks

    def input_at(self, kind: int, rank: int) -> float:
        """When the next action of a kind has its input."""
        number = self.count[kind][rank]
        if kind == F and rank > 0:
            return self.end[F][rank - 1][number] + self.comm[rank - 1]
        if kind == INPUT and rank < self.ranks - 1:
            return self.end[INPUT][rank + 1][number] + self.comm[rank]
        return 0.0

    def place(self, kind: int, rank: int) -> None:
        """Append the next action of a kind; a wait after the first forward counts as idle."""
        start = max(self.clock[rank], self.input_at(kind, rank))
        if self.order[rank]:
            self.idle[rank] += start - self.clock[rank]
        else:
            self.first_start[rank] = start
        self.clock[rank] = start + self.cost[kind][rank]
        self.end[kind][rank].append(self.clock[rank])
        self.held[rank] += self.memory.deltas[kind]
        self.count[kind][rank] += 1
        self.order[rank].append(kind)

    def make_room(self, kind: int, rank: int) -> None:
        """Place W until the next action of a kind fits into the memory. Raises ValueRangeError."""
        while self.held[rank] + self.memory.needed(kind) > self.memory.limit + 1e-9:
            if not self.has_weight_grad(rank):
                needed = self.held[rank] + self.memory.needed(kind)
                raise ValueRangeError(
                    f"zb-auto: rank {rank} holds {needed:g} > memory limit {self.memory.limit:g} microbatches"
                )
            self.place(W, rank)

    def has_weight_grad(self, rank: int) -> bool:
        """Whether an I waits for its W."""
        return self.count[W][rank] < self.count[INPUT][rank]

    def fill(self, kind: int, rank: int, greedy: bool) -> None:
        """Place W while the next action of a kind waits for its input.

        A W that fits is free. One that does not fit delays the action, and is placed when idling would make
        this rank the worst one, or always when `greedy`.
        """
        ready = self.input_at(kind, rank)
        while self.has_weight_grad(rank) and self.clock[rank] + self.cost[W][rank] <= ready:
            self.place(W, rank)
        if not (self.has_weight_grad(rank) and self.clock[rank] < ready):
            return
        worst = max(self.idle)
        if greedy or ready - self.clock[rank] > worst - self.idle[rank]:
            self.place(W, rank)

    def busy(self) -> float:
        """The longest time that a rank computes: no order has a shorter span."""
        return self.microbatches * max(map(sum, zip(*self.cost, strict=True)))

    def span(self) -> float:
        """The longest time from a rank's first start to its last end."""
        return max(end - start for end, start in zip(self.clock, self.first_start, strict=True))
