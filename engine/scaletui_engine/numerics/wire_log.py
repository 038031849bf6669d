"""A record of what ranks send while a simulation runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from scaletui_engine.collectives.wire import Collective, sent_bytes


@dataclass(slots=True)
class WireLog:
    """Collectives in the order in which they run; elements, not bytes."""

    ranks: int
    calls: list[tuple[Collective, int]] = field(default_factory=lambda: list[tuple[Collective, int]]())

    def record(self, op: Collective, payload: int) -> None:
        """One collective of that many elements."""
        if self.ranks > 1:
            self.calls.append((op, payload))

    def count(self, op: Collective) -> int:
        """How many of a kind there were."""
        return sum(1 for each, _ in self.calls if each is op)

    @property
    def sent(self) -> int:
        """Elements that one rank sent."""
        return sum(sent_bytes(op, payload, self.ranks) for op, payload in self.calls)
