"""Collectives as lists of steps: which rank sends which block of its array to whom, all at once in a step.

A block is a run of elements of the array; `add` says whether the receiver sums it up or puts it in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Transfer:
    """One message."""

    source: int
    target: int
    start: int
    """First element of the block in the sender's array."""
    stop: int
    add: bool = False
    place: int | None = None
    """Where the receiver puts it; None is the same place."""

    @property
    def elements(self) -> int:
        """Length of the block."""
        return self.stop - self.start

    @property
    def lands(self) -> tuple[int, int]:
        """[start, stop) in the receiver's array."""
        first = self.start if self.place is None else self.place
        return first, first + self.elements


@dataclass(frozen=True, slots=True)
class Step:
    """Messages that travel at the same time."""

    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class Procedure:
    """A collective of `ranks` ranks on arrays of `elements`, step by step."""

    name: str
    ranks: int
    elements: int
    steps: tuple[Step, ...]

    def sent(self, rank: int, steps: int | None = None) -> int:
        """Elements that a rank has sent after so many steps, after all of them by default."""
        return sum(t.elements for step in self.steps[:steps] for t in step.transfers if t.source == rank)

    def received(self, rank: int, steps: int | None = None) -> int:
        """Elements that a rank has received."""
        return sum(t.elements for step in self.steps[:steps] for t in step.transfers if t.target == rank)


def block(elements: int, parts: int, index: int) -> tuple[int, int]:
    """Part `index` of `parts`: sizes differ by one at most."""
    return elements * index // parts, elements * (index + 1) // parts


def step(transfers: Sequence[Transfer]) -> Step:
    """The messages that carry anything."""
    return Step(tuple(each for each in transfers if each.elements and each.source != each.target))


def procedure(name: str, ranks: int, elements: int, steps: Sequence[Step]) -> Procedure:
    """The steps that carry anything."""
    return Procedure(name, ranks, elements, tuple(each for each in steps if each.transfers))
