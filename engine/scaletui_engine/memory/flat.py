"""FSDP1: a unit's states in one flat parameter, padded once and not parameter by parameter.

Source: torch/distributed/fsdp/_flat_param.py, torch 2.13, `_init_flat_param_and_metadata`; the rule is
`sharding/fsdp1.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.census import Unit
from scaletui_engine.memory.states import States, states_of
from scaletui_engine.model import Role
from scaletui_engine.optimizers import optimizer, state_bytes, step_bytes
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.experts import apart
from scaletui_engine.sharding.fsdp1 import flat_parameter

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load


def unit_states(unit: Unit, load: Load) -> States:
    """States of a unit on one rank, flat where the plan makes it one flat parameter."""
    if not _is_flat(unit, load):
        return states_of(unit, load)
    rule, recipe = optimizer(load.plan.optimizer), load.precision
    parts = (False, True) if apart(load) else (None,)
    shard = sum(_shard(unit, load, expert=expert) for expert in parts)
    moments = state_bytes(rule, recipe, (shard,), Role.MLP)
    params = sum(tensor.copies for tensor in unit.tensors)
    steps = step_bytes(rule, params) if rule.step_on_device else 0
    return States(shard * recipe.weights, shard * recipe.gradients, moments + steps, shard * recipe.master)


def _shard(unit: Unit, load: Load, *, expert: bool | None) -> int:
    """Elements of a rank's shard of one flat parameter, of experts stacked; None is all of the unit."""
    sizes = tuple([tensor.numel for tensor in unit.tensors if expert in (None, tensor.expert)])
    degree = load.expert_shard if expert else load.shard
    if not sizes or degree == 1:
        return sum(sizes)
    return flat_parameter(sizes, degree, load.precision.weights).shard_numel


def root_units(ends: tuple[Unit, ...], load: Load) -> tuple[Unit, ...]:
    """What lies outside a rank's layers, as the units that hold it: one flat parameter for all of it."""
    if len(ends) < 2 or not all(_is_flat(unit, load) for unit in ends):
        return ends
    root = Unit(
        "root",
        tuple(tensor for unit in ends for tensor in unit.tensors),
        sum(unit.numel for unit in ends),
        sum(unit.trainable for unit in ends),
        sum(unit.down for unit in ends),
    )
    return (root,)


def _is_flat(unit: Unit, load: Load) -> bool:
    """Whether FSDP1 holds all of a unit alike, with an optimizer that takes it so.

    Adapters beside a base and optimizers of matrices or blocks are counted parameter by parameter.
    """
    if load.plan.strategy is not Strategy.FSDP1 or load.shard == 1:
        return False
    rule = optimizer(load.plan.optimizer)
    plain = not rule.factored and not rule.matrices and rule.bits is None
    return plain and unit.trainable == unit.numel
