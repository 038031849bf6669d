"""A walk through a step: what a rank holds and has sent by now, and the frames it leaves behind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from scaletui_engine.collectives.wire import sent_bytes
from scaletui_engine.memory.phases.common import states
from scaletui_engine.memory.phases.replicated import buffers
from scaletui_engine.sharding.step_frames import HELD, Act, Gradient, StepFrame, Weight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.collectives.wire import Collective
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.sharding.step_units import PlayedUnit, Wire

_MOST_SHOWN: Final = 3
"""Microbatches that are walked through: the first, the second and the last; between, all are equal."""


class Ledger:
    """Bytes sent; equal units are rounded up together, as the traffic table does."""

    def __init__(self) -> None:
        self.closed = 0
        self.open: dict[tuple[str, int, Collective, int], int] = {}

    def pay(self, wires: Iterable[Wire]) -> None:
        """Send these messages."""
        for wire in wires:
            key = (wire.what, wire.kind, wire.op, wire.ranks)
            self.open[key] = self.open.get(key, 0) + wire.payload

    @property
    def sent(self) -> int:
        """Bytes in all."""
        under_way = (sent_bytes(op, payload, ranks) for (_, _, op, ranks), payload in self.open.items())
        return self.closed + sum(under_way)

    def close(self) -> None:
        """A pass has ended: the next one's messages are collectives of their own."""
        self.closed, self.open = self.sent, {}


class Walk(ABC):
    """What both kinds of step share: parts, states of units, frames."""

    def __init__(self, contents: Contents, units: tuple[PlayedUnit, ...]) -> None:
        self.contents, self.units = contents, units
        self.plan, self.recipe = contents.load.plan, contents.load.precision
        self.held: dict[str, int] = dict.fromkeys(HELD, 0)
        for part, _, size in states(contents):
            self.held[part] += size
        if not self.plan.strategy.shards_weights:
            self.held["buffers"] = sum(size for _, _, size in buffers(contents))
        cut = self.plan.strategy.shards_weights
        self.weights = bytearray([Weight.SHARD if cut else Weight.OWNED] * len(units))
        self.gradients = bytearray(len(units))
        self.ledger = Ledger()
        self.frames: list[StepFrame] = []
        self.microbatch = 0
        self.stepped = False

    @abstractmethod
    def walk(self) -> None:
        """The whole step."""

    @property
    def microbatches(self) -> int:
        """Microbatches of the step."""
        return max(self.plan.accumulation, 1)

    @property
    def shown(self) -> tuple[int, ...]:
        """Those that are walked through."""
        last = self.microbatches - 1
        return tuple(sorted({0, min(1, last), last})) if last >= _MOST_SHOWN else tuple(range(last + 1))

    @property
    def is_last(self) -> bool:
        """Whether the step's last microbatch runs."""
        return self.microbatch == self.microbatches - 1

    def mark(self, act: Act, unit: int | None = None) -> None:
        """A frame of what is held now."""
        self.frames.append(
            StepFrame(
                act, unit, self.microbatch, tuple(self.held.values()), self.ledger.sent,
                bytes(self.weights), bytes(self.gradients), self.stepped,
            )
        )  # fmt: skip

    def sends(self, wire: Wire) -> bool:
        """Whether a message goes in this microbatch: one that goes once a step waits for the last."""
        return wire.times > 1 or self.microbatches == 1 or self.is_last

    def skip_to(self, microbatch: int) -> None:
        """Leave out the microbatches before: each sends what the one before them sent."""
        between = microbatch - self.microbatch - 1
        if between > 0:
            begun = next(frame.sent for frame in reversed(self.frames) if frame.microbatch < self.microbatch)
            self.ledger.close()
            self.ledger.closed += between * (self.ledger.closed - begun)
            self.microbatch = microbatch - 1
            self.mark(Act.SKIP)
        self.microbatch = microbatch

    def finish(self) -> None:
        """The optimizer's step, and what follows it."""
        self.ledger.close()
        self.stepped = True
        self.mark(Act.STEP)
        published = [wire for unit in self.units for wire in unit.wires if wire.what in _PUBLISHED]
        if published:
            self.ledger.pay(published)
            self.mark(Act.PUBLISH)
        self.ledger.close()

    def set_gradients(self, state: Gradient, units: Iterable[int]) -> None:
        """The same state for several units."""
        for unit in units:
            self.gradients[unit] = state


_PUBLISHED: Final = ("weights", "weights_small")
