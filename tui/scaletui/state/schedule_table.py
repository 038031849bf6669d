"""Every schedule for one pipeline: its figures, or why it refuses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui.state.schedule import simulate
from scaletui.text.refusals import refusal
from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ScenarioError
from scaletui_engine.schedule_rules import schedule_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.schedule import Question

SEARCHED: Final = "zb-auto"
MOST_SEARCHED: Final = 4096
"""Ranks x microbatches up to which a table waits for a search."""


class Order(StrEnum):
    """What a table is sorted by."""

    BUBBLE = "bubble"
    """Idle time over the makespan, the least first."""
    MEMORY = "memory"
    """Most live activations on a rank, the least first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule."""

    name: str
    chunks: int = 1
    makespan: float = 0.0
    over_makespan: float = 0.0
    zero_bubble: float = 0.0
    peak: float = 0.0
    """Microbatches of a rank's layers."""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """What is known so far, and where the reader is."""

    entries: tuple[Entry, ...] = ()
    order: Order = Order.BUBBLE
    name: str = ""
    """The schedule under the cursor."""

    @property
    def sorted(self) -> tuple[Entry, ...]:
        """The best first, those that refuse last."""
        return tuple(sorted(self.entries, key=self._key))

    @property
    def place(self) -> int:
        """Line of the cursor."""
        names = [entry.name for entry in self.sorted]
        return names.index(self.name) if self.name in names else 0

    @property
    def chosen(self) -> Entry | None:
        """The entry under the cursor."""
        return self.sorted[self.place] if self.entries else None

    def _key(self, entry: Entry) -> tuple[bool, float, float, str]:
        figures = (round(entry.over_makespan, 9), round(entry.peak, 9))
        first, second = figures if self.order is Order.BUBBLE else figures[::-1]
        return (bool(entry.refusal), first, second, entry.name)


def grown(table: Table, entry: Entry) -> Table:
    """With one entry more; the cursor stays on its schedule."""
    return replace(table, entries=(*table.entries, entry))


def moved(table: Table, steps: int) -> Table:
    """The cursor further down or up; the list ends at its ends."""
    if not table.entries:
        return table
    place = min(max(table.place + steps, 0), len(table.entries) - 1)
    return replace(table, name=table.sorted[place].name)


def turned(table: Table) -> Table:
    """Sorted by the other figure."""
    return replace(table, order=Order.MEMORY if table.order is Order.BUBBLE else Order.BUBBLE)


def entries(question: Question) -> Iterator[Entry]:
    """All schedules on the same ranks, one after the other; the one that searches comes last."""
    names = sorted(schedule_names(), key=lambda name: name == SEARCHED)
    return (entry_of(question, name) for name in names)


def entry_of(question: Question, name: str) -> Entry:
    """One schedule's figures, or its refusal."""
    if name == SEARCHED and question.places > MOST_SEARCHED:
        return Entry(name, refusal=f"ranks x microbatches = {question.places} > {MOST_SEARCHED}")
    try:
        run = simulate(replace(question, beside=(name,)), name)
    except ScenarioError as error:
        return Entry(name, refusal=refusal(error))
    bubble = run.bubble
    return Entry(name, run.chunks, run.makespan, bubble.over_makespan, bubble.zero_bubble, max(run.peaks))
