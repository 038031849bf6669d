"""A step whose weights are whole on every rank: DDP, ZeRO-1 and ZeRO-2.

DDP reduces the gradients of a unit when its backward pass is done, DeepSpeed when a bucket is full, and what
has been updated is published where only a slice of the optimizer is a rank's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.phases.common import gradients
from scaletui_engine.memory.phases.replicated import autocast_copies, gradients_before
from scaletui_engine.runtime import Framework
from scaletui_engine.sharding.step_frames import Act, Gradient
from scaletui_engine.sharding.step_walk import Walk

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.sharding.step_units import PlayedUnit


class ReplicatedWalk(Walk):
    """Weights stay; gradients fill up, or are cut as soon as they are reduced."""

    def __init__(self, contents: Contents, units: tuple[PlayedUnit, ...]) -> None:
        super().__init__(contents, units)
        self.copies = bool(autocast_copies(contents))
        self.for_ever = bool(gradients_before(contents, fresh=True))
        """Whether gradients are a buffer that is never freed."""
        self.keeps = gradients(contents)[2] > 0
        self.cuts = self.plan.strategy.shards_gradients
        deepspeed = contents.load.framework is Framework.DEEPSPEED
        self.bucket = self.plan.runtime.zero_bucket if deepspeed else 0
        """Elements that are reduced together; 0 where every unit is reduced alone."""
        self.full: list[int] = []
        """Units whose whole gradients wait in the bucket."""

    def walk(self) -> None:
        """The whole step."""
        if self.for_ever and self.keeps:
            self.held["gradients"] = sum(unit.kept for unit in self.units)
        self.mark(Act.START)
        for microbatch in self.shown:
            self.skip_to(microbatch)
            self._forward()
            self._backward()
            self.ledger.close()
        self.finish()
        if not self.for_ever:
            self.held["gradients"] = 0
        self.set_gradients(Gradient.NONE, range(len(self.units)))
        self.mark(Act.START)

    def _forward(self) -> None:
        for place, unit in enumerate(self.units):
            if self.copies:
                self.held["unsharded"] += unit.numel * self.recipe.compute
            self.mark(Act.FORWARD, place)

    def _backward(self) -> None:
        for place in reversed(range(len(self.units))):
            if not self.cuts:
                self._grow([place])
            self.gradients[place] = Gradient.WHOLE
            self.full.append(place)
            self.mark(Act.BACKWARD, place)
            if sum(self.units[each].trainable for each in self.full) >= self.bucket:
                self._reduce()
        self._reduce()
        self.held["unsharded"] = 0

    def _grow(self, units: list[int]) -> None:
        if self.keeps and not self.for_ever and self.microbatch == 0:
            self.held["gradients"] += sum(self.units[each].kept for each in units)

    def _reduce(self) -> None:
        """What waits in the bucket, unless the reduction waits for a later microbatch."""
        units, self.full = self.full, []
        wires = [wire for each in units for wire in self.units[each].wire("gradients")]
        if not units or (wires and not any(map(self.sends, wires))):
            return
        self.ledger.pay(wire for wire in wires if self.sends(wire))
        if self.cuts:
            self._grow(units)
        self.set_gradients(Gradient.REDUCING, units)
        self.mark(Act.REDUCE, units[0])
        kept = Gradient.SHARD if self.cuts else Gradient.REDUCED
        self.set_gradients(kept if self.keeps else Gradient.NONE, units)
