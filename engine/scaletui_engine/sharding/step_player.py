"""One training step unit by unit: gather, compute, free, reduce, update; with the bytes that a rank holds.

The held bytes are states and gathered copies: activations are the memory engine's subject.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ValueRangeError
from scaletui_engine.plan import Strategy
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterator


class Act(StrEnum):
    """What happens in a frame."""

    START = "start"
    """Between two steps."""
    GATHER = "gather"
    """All-gather of a unit's weights."""
    FORWARD = "forward"
    BACKWARD = "backward"
    """Leaves the unit's whole gradient behind."""
    FREE = "free"
    """The gathered copy goes."""
    REDUCE = "reduce"
    """Reduce-scatter, or all-reduce, of the unit's gradient."""
    STEP = "step"
    """The optimizer updates what the rank owns."""
    PUBLISH = "publish"
    """ZeRO-1 and 2: all-gather of the updated weights."""


@dataclass(frozen=True, slots=True)
class PlayedUnit:
    """Parameters that move together."""

    name: str
    numel: int


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """What is played."""

    strategy: Strategy
    units: tuple[PlayedUnit, ...]
    """In the order of the forward pass."""
    ranks: int
    weight: int = 4
    """Bytes a stored weight."""
    compute: int = 2
    """Bytes a gathered weight."""
    gradient: int = 4
    optimizer: int = 8
    keep_last: bool = True
    """The last unit of the forward pass stays gathered: the backward pass needs it at once."""


@dataclass(frozen=True, slots=True)
class StepFrame:
    """One moment of one rank; the others hold as much."""

    act: Act
    unit: str
    weights: int
    gradients: int
    optimizer: int
    unsharded: int
    """Gathered weights and whole gradients."""
    sent: int
    """Bytes that the rank has sent since the start."""

    @property
    def total(self) -> int:
        """Bytes held."""
        return self.weights + self.gradients + self.optimizer + self.unsharded


def frames(played: PlayedStep) -> tuple[StepFrame, ...]:
    """Every frame of a step. Raises ValueRangeError for no units or no ranks."""
    if played.ranks < 1 or not played.units:
        raise ValueRangeError(
            f"{len(played.units)} units on {played.ranks} ranks: at least 1 of each is needed"
        )
    return tuple(_Player(played).play())


class _Player:
    """The walk through a step; `now` is the latest frame."""

    def __init__(self, played: PlayedStep) -> None:
        self.played, self.strategy = played, played.strategy
        total = sum(unit.numel for unit in played.units)
        self.now = StepFrame(
            Act.START,
            "",
            self._share(total, sharded=self.strategy.shards_weights) * played.weight,
            0,
            self._share(total, sharded=self.strategy.shards_optimizer) * played.optimizer,
            0,
            0,
        )

    def play(self) -> Iterator[StepFrame]:
        gathers, units = self.strategy.shards_weights, self.played.units
        yield self.now
        for unit in units:
            if gathers:
                yield self._gather(unit)
            yield self._next(Act.FORWARD, unit)
            if gathers and not (self.played.keep_last and unit is units[-1]):
                yield self._free(unit)
        for unit in reversed(units):
            if gathers and not (self.played.keep_last and unit is units[-1]):
                yield self._gather(unit)
            yield self._next(Act.BACKWARD, unit, unsharded=self.now.unsharded + self._whole_gradient(unit))
            if gathers:
                yield self._free(unit)
            yield self._reduce(unit)
        yield self._next(Act.STEP, None)
        if self.strategy in (Strategy.ZERO1, Strategy.ZERO2):
            total = sum(unit.numel for unit in units)
            yield self._next(Act.PUBLISH, None, sent=self.now.sent + self._passed(total * self.played.weight))
        yield self._next(Act.START, None, gradients=0)

    def _gather(self, unit: PlayedUnit) -> StepFrame:
        size = unit.numel * self.played.compute
        return self._next(
            Act.GATHER,
            unit,
            unsharded=self.now.unsharded + size,
            sent=self.now.sent + self._passed(size),
        )

    def _free(self, unit: PlayedUnit) -> StepFrame:
        return self._next(Act.FREE, unit, unsharded=self.now.unsharded - unit.numel * self.played.compute)

    def _reduce(self, unit: PlayedUnit) -> StepFrame:
        size = unit.numel * self.played.gradient
        scattered = self.strategy is not Strategy.DDP
        kept = self._share(unit.numel, sharded=self.strategy.shards_gradients) * self.played.gradient
        return self._next(
            Act.REDUCE,
            unit,
            gradients=self.now.gradients + kept,
            unsharded=self.now.unsharded - self._whole_gradient(unit),
            sent=self.now.sent + self._passed(size) * (1 if scattered else 2),
        )

    def _whole_gradient(self, unit: PlayedUnit) -> int:
        return unit.numel * self.played.gradient

    def _next(self, act: Act, unit: PlayedUnit | None, **changed: int) -> StepFrame:
        self.now = replace(self.now, act=act, unit="" if unit is None else unit.name, **changed)
        return self.now

    def _share(self, numel: int, *, sharded: bool) -> int:
        return ceil_div(numel, self.played.ranks) if sharded else numel

    def _passed(self, size: int) -> int:
        return ceil_div(size * (self.played.ranks - 1), self.played.ranks)
