"""A step whose weights are cut: gathered unit by unit, freed, gathered again, gradients reduce-scattered.

Source: torch 2.13, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py: the next unit is gathered while
one runs, the last layer of the forward pass stays, the root stays until the end of the backward pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.phases.common import gradients
from scaletui_engine.memory.phases.units import splits_root
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.step_frames import Act, Gradient, Weight
from scaletui_engine.sharding.step_walk import Walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.sharding.step_units import PlayedUnit

FORWARD: Final = "weights_forward"
AGAIN: Final = "weights_backward"
_REDUCED: Final = ("gradients", "gradient_shards")


class GatheredWalk(Walk):
    """FSDP, HSDP and FSDP1."""

    def __init__(self, contents: Contents, units: tuple[PlayedUnit, ...]) -> None:
        super().__init__(contents, units)
        runtime = self.plan.runtime
        self.layers = [place for place, unit in enumerate(units) if unit.is_layer]
        self.ends = [place for place, unit in enumerate(units) if not unit.is_layer]
        self.split = splits_root(contents)
        self.ahead = 0 if runtime.traced else min(runtime.prefetch, 1)
        eager = self.plan.strategy is Strategy.FSDP1 and not runtime.limit_all_gathers
        self.stays = eager or not self.plan.reshard_after_forward
        self.frees = not self.stays
        """Whether a layer goes once it has run forward."""
        self.keeps_last = contents.head is not None and not runtime.reshard_last
        self.keeps_gradients = gradients(contents)[2] > 0
        self.whole: dict[int, int] = {}
        """Unit -> bytes of its gathered copy."""
        self.gathering: dict[int, int] = {}
        """Unit -> bytes of the buffer that an all-gather fills ahead of time."""
        self.raw: dict[int, int] = {}
        """Unit -> bytes of its whole gradient."""
        self.summed: dict[int, int] = {}
        """Unit -> bytes of whole gradients summed over microbatches."""
        self.reducing = 0
        """Bytes of the last reduction's input, held until the next one begins."""

    def mark(self, act: Act, unit: int | None = None) -> None:
        """A frame of what is held now."""
        pools = (self.whole, self.gathering, self.raw, self.summed)
        self.held["unsharded"] = self.reducing + sum(sum(pool.values()) for pool in pools)
        self.weights = bytearray(len(self.units))
        for place, size in self.whole.items():
            self.weights[place] = Weight.WHOLE if size == self.size(place) else Weight.GATHERING
        for place in self.gathering:
            self.weights[place] = Weight.GATHERING
        super().mark(act, unit)

    def size(self, unit: int) -> int:
        """Bytes of a gathered copy."""
        return self.units[unit].numel * self.recipe.compute

    def walk(self) -> None:
        """The whole step."""
        self.mark(Act.START)
        for microbatch in self.shown:
            self.skip_to(microbatch)
            self._forward()
            self._turn()
            self._backward()
            self.ledger.close()
        self._reduce_late()
        self.whole, self.reducing = {}, 0
        self.finish()
        self.held["gradients"] = 0
        self.set_gradients(Gradient.NONE, range(len(self.units)))
        self.mark(Act.START)

    @property
    def _head(self) -> int | None:
        return next((place for place in self.ends if self.units[place].name == "head"), None)

    @property
    def _embedding(self) -> int | None:
        return next((place for place in self.ends if self.units[place].name == "embedding"), None)

    def _forward(self) -> None:
        self._enter()
        for order, unit in enumerate(self.layers):
            self.need(unit, FORWARD)
            self.prepare(self.layers[order + 1 :], FORWARD)
            self.mark(Act.FORWARD, unit)
            if self.frees and not (self.keeps_last and unit == self.layers[-1]):
                self.release([unit])
        if self._head is not None:
            if self.split:
                self._gather_root([self._head], FORWARD)
            self.mark(Act.FORWARD, self._head)

    def _enter(self) -> None:
        """What lies outside the layers is gathered; an embedding that is a unit of its own runs, and goes."""
        if not self.split:
            self._gather_root(self.ends, FORWARD)
        elif self._embedding is not None:
            self._gather_root([self._embedding], FORWARD)
            self.mark(Act.FORWARD, self._embedding)
            self.release([self._embedding])

    def _turn(self) -> None:
        """Between the passes: a root that is freed is gathered again."""
        if self.plan.runtime.reshard_root and not self.split:
            self.release(self.ends)
            self._gather_root(self.ends, AGAIN)

    def _backward(self) -> None:
        head = self._head
        if head is not None:
            self.raw[head] = self._gradient(head)
            self.gradients[head] = Gradient.WHOLE
            self.mark(Act.BACKWARD, head)
            if self.split:
                self.release([head])
                self._reduce([head])
        for order, unit in enumerate(reversed(self.layers)):
            self.need(unit, AGAIN)
            self.prepare(self.layers[: len(self.layers) - 1 - order][::-1], AGAIN)
            self._back(unit)
        self._back_root()

    def _back(self, unit: int) -> None:
        """One layer: its backward pass, its weights freed, its gradient reduced or kept."""
        self.raw[unit] = self.units[unit].down * self.recipe.compute
        self.gradients[unit] = Gradient.PART
        self.mark(Act.BACKWARD, unit)
        self.raw[unit] = self._gradient(unit)
        self.gradients[unit] = Gradient.WHOLE
        if not (self._waits_for_last and not self.is_last):
            self.release([unit])
        self._reduce([unit])

    def _back_root(self) -> None:
        """The root's turn comes last: the embedding's gradient, then all of them at once."""
        self.reducing = 0
        if self._embedding is not None:
            self.raw[self._embedding] = self._gradient(self._embedding)
            self.gradients[self._embedding] = Gradient.WHOLE
            self.mark(Act.BACKWARD, self._embedding)
        waiting = [unit for unit in self.ends if unit in self.raw]
        if any(unit in self.whole for unit in self.ends):
            self.release(self.ends)
        if waiting:
            self._reduce(waiting)
            self.reducing = 0

    def _reduce(self, units: list[int]) -> None:
        """Send the gradients, unless they are summed up over microbatches first."""
        if not self.contents.sums_whole or (self.is_last and not self.contents.torch_pipeline):
            self._scatter(units)
        else:
            self.summed.update({unit: self._sum_bytes(unit) for unit in units})
            self.mark(Act.KEEP, units[0])
            self._drop(units)

    def _scatter(self, units: list[int]) -> None:
        """The reduction reads a copy in its own type; the slice that it leaves is the rank's to keep."""
        self.reducing = sum(self.units[unit].trainable for unit in units) * self.recipe.reduce
        for unit in units:
            self.ledger.pay(wire for what in _REDUCED for wire in self.units[unit].wire(what))
        self.set_gradients(Gradient.REDUCING, units)
        if units == self.ends:
            self._scatter_root(units)
        else:
            self._keep_slices(units)
            self.mark(Act.REDUCE, units[0])
        self._drop(units)
        for unit in units:
            self.summed.pop(unit, None)
        self.set_gradients(Gradient.SHARD if self.keeps_gradients else Gradient.NONE, units)

    def _scatter_root(self, units: list[int]) -> None:
        """Its slices are allocated once its whole gradients are free, but for the last one of the loop.

        `foreach_reduce` clears its list of whole gradients; its loop variable holds on to the last.
        """
        self.mark(Act.REDUCE, units[0])
        self._drop([unit for unit in units if unit != self._head])
        self._keep_slices(units)
        self.set_gradients(Gradient.SHARD if self.keeps_gradients else Gradient.NONE, units)
        self.mark(Act.FREE, units[0])

    def _keep_slices(self, units: list[int]) -> None:
        if self.keeps_gradients and (self.microbatch == 0 or self.contents.sums_whole):
            self.held["gradients"] += sum(self.units[unit].kept for unit in units)

    def _reduce_late(self) -> None:
        """A torch pipeline reduces unit by unit after its last backward pass."""
        if self.contents.sums_whole and self.contents.torch_pipeline:
            for unit in reversed(self.layers):
                self._scatter([unit])
            if self.ends:
                self._scatter(self.ends)
            self.ledger.close()

    def _drop(self, units: Sequence[int]) -> None:
        for unit in units:
            self.raw.pop(unit, None)

    def _gradient(self, unit: int) -> int:
        return self.units[unit].trainable * self.recipe.compute

    def _sum_bytes(self, unit: int) -> int:
        """FSDP2 sums whole gradients up in the reduce type, FSDP1 in the compute type."""
        flat = self.plan.strategy is Strategy.FSDP1
        return self.units[unit].trainable * (self.recipe.compute if flat else self.recipe.reduce)

    @property
    def _waits_for_last(self) -> bool:
        """Whether layers stay whole from the first microbatch to the last: torch pipelines, not resharded."""
        return self.stays and self.contents.torch_pipeline

    def _gather_root(self, units: Sequence[int], what: str) -> None:
        """What lies outside the layers is one unit."""
        if not units:
            return
        for unit in units:
            self.pay(unit, what)
            self.whole[unit] = self.size(unit)
        self.mark(Act.GATHER, units[0])

    def pay(self, unit: int, what: str) -> None:
        """Send a gather's messages; one that goes once a step goes in the first microbatch."""
        wires = self.units[unit].wire(what)
        self.ledger.pay(wire for wire in wires if wire.times > 1 or self.microbatch == 0)

    def need(self, unit: int, what: str) -> None:
        """The unit is whole: it is gathered unless it stayed, or was gathered ahead."""
        if unit in self.gathering:
            self.whole[unit] = self.gathering.pop(unit)
        elif unit not in self.whole:
            self.pay(unit, what)
            self.whole[unit] = self.size(unit)
            self.mark(Act.GATHER, unit)
        elif what == AGAIN and not self.stays and self.units[unit].wire(AGAIN):
            # Experts are units of their own, and are freed also where their layer stays.
            self.pay(unit, AGAIN)
            self.mark(Act.GATHER, unit)

    def prepare(self, following: list[int], what: str) -> None:
        """Gather the next unit while this one runs."""
        for unit in following[: self.ahead]:
            if unit not in self.whole and unit not in self.gathering:
                self.pay(unit, what)
                self.gathering[unit] = self.size(unit)
                self.mark(Act.GATHER, unit)

    def release(self, units: Sequence[int]) -> None:
        """Gathered copies go."""
        for unit in units:
            self.whole.pop(unit, None)
        self.mark(Act.FREE, units[0])
