"""Model states: weights, gradients, optimizer and master weights of a unit on one rank."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.optimizers import optimizer, state_bytes, step_bytes
from scaletui_engine.plan import Strategy
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.memory.census import LocalTensor, Unit
    from scaletui_engine.memory.load import Load

NF4_BLOCK: Final = 64
"""Elements that share one scale in QLoRA's 4-bit format (arXiv:2305.14314, section 3)."""
NF4_SECOND_BLOCK: Final = 256
"""Scales that share one fp32 constant under double quantisation."""


@dataclass(frozen=True, slots=True)
class States:
    """Bytes a unit's states take on one rank for the whole step."""

    weights: int = 0
    gradients: int = 0
    optimizer: int = 0
    master_weights: int = 0

    def plus(self, other: States, count: int = 1) -> States:
        """These and `count` times the other."""
        return States(
            self.weights + other.weights * count,
            self.gradients + other.gradients * count,
            self.optimizer + other.optimizer * count,
            self.master_weights + other.master_weights * count,
        )


def states_of(unit: Unit, load: Load) -> States:
    """States of one unit (ZeRO, arXiv:1910.02054, section 3.1, with the recipe's own bytes)."""
    return sum_states(tensor_states(tensor, load) for tensor in unit.tensors)


def sum_states(parts: Iterable[States]) -> States:
    """The sum of all of them."""
    total = States()
    for part in parts:
        total = total.plus(part)
    return total


def tensor_states(tensor: LocalTensor, load: Load) -> States:
    """States of one tensor with all its copies."""
    recipe, strategy = load.precision, load.plan.strategy
    whole, shard = tensor.numel, shard_numel(tensor, load)
    weights = _weight_bytes(tensor, load, shard if strategy.shards_weights else whole)
    if not tensor.trainable:
        return States(weights)
    return States(
        weights,
        (shard if strategy.shards_gradients else whole) * recipe.gradients,
        optimizer_bytes(tensor, load),
        (shard if strategy.shards_optimizer else whole) * recipe.master,
    )


def optimizer_bytes(tensor: LocalTensor, load: Load) -> int:
    """Moments of a rank's share, and its step counts where they lie on the device.

    A matrix method on a flat shard keeps its share of what the whole matrix costs.
    """
    rule, recipe = optimizer(load.plan.optimizer), load.precision
    shape, sharded = shard_shape(tensor, load), load.plan.strategy.shards_optimizer
    steps = step_bytes(rule, tensor.copies) if rule.step_on_device else 0
    if sharded and len(shape) < len(tensor.shape) and (rule.factored or rule.matrices):
        degree = load.expert_shard if tensor.expert else load.shard
        return ceil_div(state_bytes(rule, recipe, tensor.shape, tensor.role) * tensor.copies, degree) + steps
    held = shape if sharded else tensor.shape
    return state_bytes(rule, recipe, held, tensor.role) * tensor.copies + steps


def shard_shape(tensor: LocalTensor, load: Load) -> tuple[int, ...]:
    """A rank's share of one copy: FSDP2 cuts dim 0 and pads it, the others cut the flat parameter."""
    degree = load.expert_shard if tensor.expert else load.shard
    shape = tensor.shape
    if degree == 1:
        return shape
    if load.plan.strategy in (Strategy.FSDP, Strategy.HSDP) and not tensor.expert:
        return (ceil_div(shape[0], degree), *shape[1:])
    return (ceil_div(prod(shape), degree),)


def shard_numel(tensor: LocalTensor, load: Load) -> int:
    """Elements of a rank's share of all copies; experts are stacked before they are cut."""
    if tensor.expert:
        return ceil_div(tensor.numel, load.expert_shard)
    return prod(shard_shape(tensor, load)) * tensor.copies


def _weight_bytes(tensor: LocalTensor, load: Load, elements: int) -> int:
    """A frozen base is held in the compute type, under QLoRA in NF4; what is trained as the recipe says."""
    if tensor.quantized:
        double = load.plan.lora is not None and load.plan.lora.double_quant
        return nf4_bytes(elements, double_quant=double)
    frozen_base = load.plan.lora is not None and not tensor.trainable
    return elements * (load.item if frozen_base else load.precision.weights)


def nf4_bytes(elements: int, *, double_quant: bool) -> int:
    """4 bits an element and a scale a block: fp32, or 8 bits with one fp32 for 256 of them."""
    blocks = ceil_div(elements, NF4_BLOCK)
    scales = blocks + 4 * ceil_div(blocks, NF4_SECOND_BLOCK) if double_quant else 4 * blocks
    return ceil_div(elements, 2) + scales
