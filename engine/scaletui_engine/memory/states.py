"""Model states: weights, gradients, optimizer and master weights of a unit on one rank."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from scaletui_engine.optimizers import optimizer, state_bytes, step_bytes
from scaletui_engine.plan import Strategy
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.census import LocalTensor, Unit
    from scaletui_engine.memory.load import Load


@dataclass(frozen=True, slots=True)
class States:
    """Bytes a unit's states take on one rank for the whole step."""

    weights: int = 0
    gradients: int = 0
    optimizer: int = 0
    master_weights: int = 0

    def __add__(self, other: States) -> States:
        return States(
            self.weights + other.weights,
            self.gradients + other.gradients,
            self.optimizer + other.optimizer,
            self.master_weights + other.master_weights,
        )

    def times(self, count: int) -> States:
        """The states of `count` equal units."""
        return States(
            self.weights * count, self.gradients * count, self.optimizer * count, self.master_weights * count
        )


def states_of(unit: Unit, load: Load) -> States:
    """States of one unit (ZeRO, arXiv:1910.02054, section 3.1, with the recipe's own bytes)."""
    recipe, strategy = load.precision, load.plan.strategy
    rule = optimizer(load.plan.optimizer)
    weights = gradients = moments = master = steps = 0
    for tensor in unit.tensors:
        shard = shard_shape(tensor, load)
        weights += _elements(tensor, shard, sharded=strategy.shards_weights) * recipe.weights
        if tensor.trainable:
            gradients += _elements(tensor, shard, sharded=strategy.shards_gradients) * recipe.gradients
            held = shard if strategy.shards_optimizer else tensor.shape
            moments += state_bytes(rule, recipe, held, tensor.role) * tensor.copies
            master += _elements(tensor, shard, sharded=strategy.shards_optimizer) * recipe.master
            steps += tensor.copies if rule.step_on_device else 0
    return States(weights, gradients, moments + step_bytes(rule, steps), master)


def shard_shape(tensor: LocalTensor, load: Load) -> tuple[int, ...]:
    """A rank's share of one copy: FSDP2 pads dim 0, the flat layouts pad only the whole."""
    shape = tensor.shape
    degree = load.expert_shard if tensor.expert else load.shard
    if degree == 1:
        return shape
    if load.plan.strategy in (Strategy.FSDP, Strategy.HSDP) and not tensor.expert:
        return (ceil_div(shape[0], degree), *shape[1:])
    return (ceil_div(prod(shape), degree),)


def _elements(tensor: LocalTensor, shard: tuple[int, ...], *, sharded: bool) -> int:
    return prod(shard) * tensor.copies if sharded else tensor.numel
