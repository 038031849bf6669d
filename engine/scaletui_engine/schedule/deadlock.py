"""Ranks that wait for each other: who stands where, and the circle."""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.errors import ScenarioError


@dataclass(frozen=True, slots=True)
class Head:
    """A rank that cannot go on: its next action, and the action of another rank it waits for."""

    rank: int
    action: str
    waits_for: str
    of_rank: int

    def __str__(self) -> str:
        return f"rank {self.rank} at {self.action} waits for {self.waits_for} of rank {self.of_rank}"


class DeadlockError(ScenarioError):
    """An order that stops: the heads of all ranks that have not finished, the circle among them first."""

    def __init__(self, heads: tuple[Head, ...]) -> None:
        self.heads = heads
        self.cycle = _cycle(heads)
        shown = self.cycle or heads[:4]
        super().__init__("deadlock: " + "; ".join(map(str, shown)))


def _cycle(heads: tuple[Head, ...]) -> tuple[Head, ...]:
    """The ranks that wait for each other in a circle; empty when a rank waits for one that has finished."""
    at = {head.rank: head for head in heads}
    seen: list[int] = []
    rank = heads[0].rank
    while rank in at and rank not in seen:
        seen.append(rank)
        rank = at[rank].of_rank
    return tuple(at[r] for r in seen[seen.index(rank) :]) if rank in seen else ()
