"""Model states: weights, gradients, optimizer and master weights of a unit on one rank."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from scaletui_engine.optimizers import optimizer, state_bytes, step_bytes
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.fsdp2 import padded_numel, shard_dim_of_experts
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.memory.census import LocalTensor, Unit
    from scaletui_engine.memory.load import Load
    from scaletui_engine.optimizers import Optimizer

NF4_BLOCK: Final = 64
"""Elements that share one scale in QLoRA's 4-bit format (arXiv:2305.14314, section 3)."""
NF4_SECOND_BLOCK: Final = 256
"""Scales that share one fp32 constant under double quantisation."""


_BY_ROWS: Final = (Strategy.FSDP, Strategy.HSDP)


@dataclass(frozen=True, slots=True)
class States:
    """Bytes a unit's states take on one rank for the whole step."""

    weights: int = 0
    gradients: int = 0
    optimizer: int = 0
    master_weights: int = 0


def total_states(counted: Iterable[tuple[States, int]]) -> States:
    """The sum of states, each so many times."""
    weights = gradients = moments = master = 0
    for states, count in counted:
        weights += states.weights * count
        gradients += states.gradients * count
        moments += states.optimizer * count
        master += states.master_weights * count
    return States(weights, gradients, moments, master)


def states_of(unit: Unit, load: Load) -> States:
    """States of one unit (ZeRO, arXiv:1910.02054, section 3.1, with the recipe's own bytes)."""
    return _sum_states(unit.tensors, load)


def tensor_states(tensor: LocalTensor, load: Load) -> States:
    """States of one tensor with all its copies."""
    return _sum_states((tensor,), load)


def _sum_states(tensors: Iterable[LocalTensor], load: Load) -> States:
    """One pass over the tensors: what every edit of a plan computes anew."""
    rule, strategy, recipe = optimizer(load.plan.optimizer), load.plan.strategy, load.precision
    weights_cut, gradients_cut = strategy.shards_weights, strategy.shards_gradients
    optimizer_cut = strategy.shards_optimizer
    weights = moments = with_gradient = with_master = 0
    for tensor in tensors:
        shape = shard_shape(tensor, load)
        whole = tensor.numel
        shard = _expert_shard(tensor, load) if tensor.expert else prod(shape) * tensor.copies
        weights += _weight_bytes(tensor, load, shard if weights_cut else whole)
        if tensor.trainable:
            with_gradient += shard if gradients_cut else whole
            with_master += shard if optimizer_cut else whole
            moments += _moment_bytes(tensor, load, rule, shape if optimizer_cut else tensor.shape)
    return States(weights, with_gradient * recipe.gradients, moments, with_master * recipe.master)


def _expert_shard(tensor: LocalTensor, load: Load) -> int:
    """Elements of a rank's share of its experts, which are stacked before they are cut.

    FSDP2 cuts whole experts, or rows of all of them where more ranks share them than there are, and pads
    (torchtitan b5bcd76, distributed/fsdp.py, `apply_fsdp`).
    """
    moe, shards = load.arch.moe, load.expert_shard
    if moe is None or load.plan.strategy not in _BY_ROWS:
        return ceil_div(tensor.numel, shards)
    dim = shard_dim_of_experts(moe.experts, shards * load.plan.axes.ep)
    return padded_numel((tensor.copies, *tensor.shape), shards, dim)


def _moment_bytes(tensor: LocalTensor, load: Load, rule: Optimizer, held: tuple[int, ...]) -> int:
    """Moments of a rank's share, and its step counts where they lie on the device.

    A matrix method on a flat shard keeps its share of what the whole matrix costs.
    """
    steps = step_bytes(rule, tensor.copies) if rule.step_on_device else 0
    if len(held) < len(tensor.shape) and (rule.factored or rule.matrices):
        degree = load.expert_shard if tensor.expert else load.shard
        whole = state_bytes(rule, load.precision, tensor.shape, tensor.role) * tensor.copies
        return ceil_div(whole, degree) + steps
    return state_bytes(rule, load.precision, held, tensor.role) * tensor.copies + steps


def shard_shape(tensor: LocalTensor, load: Load) -> tuple[int, ...]:
    """A rank's share of one copy: FSDP2 cuts dim 0 and pads it, the others cut the flat parameter."""
    expert, shape = tensor.expert, tensor.shape
    degree = load.expert_shard if expert else load.shard
    if degree == 1:
        return shape
    if not expert and load.plan.strategy in _BY_ROWS:
        return (ceil_div(shape[0], degree), *shape[1:])
    return (ceil_div(prod(shape), degree),)


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
