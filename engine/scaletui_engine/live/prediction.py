"""What a rank should hold, from the plan and the parameter shapes alone, never from a measured byte."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Protocol

from scaletui_engine.errors import ValueRangeError
from scaletui_engine.live.held import NOTHING, Held
from scaletui_engine.live.optimizer_rule import OptimizerRule, optimizer_rule
from scaletui_engine.live.placement import PlacementError, local_parameter
from scaletui_engine.live.plan_document import JobPlan, PlanFault
from scaletui_engine.live.predicted import Prediction, Unpredicted
from scaletui_engine.live.zero_prediction import zero_groups, zero_held, zero_lack
from scaletui_engine.memory.fsdp2 import Moments, ParameterShape, ShardedBytes, sharded_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.live.plan_document import PlannedParameter

_WRAPPERS: Final = ("fsdp2", "fsdp1", "plain")
_WITHOUT_STATE: Final = OptimizerRule(Moments(0, steps=False), 0)


class Ranked(Protocol):
    """Which of how many ranks: an identity, or a header as the probe writes it."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """From 0."""

    @property
    @abstractmethod
    def world_size(self) -> int:
        """All ranks of the job."""


class _NoRuleError(Exception):
    """A parameter that no rule covers."""

    def __init__(self, reason: Unpredicted, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def predict(plan: JobPlan | PlanFault, identity: Ranked | None = None) -> Prediction:
    """Weights and gradients as padded storage, the optimizer as unpadded moments and step scalars.

    Tied parameters are one row of a plan, and so count once. FSDP1's rows have the sizes of a rank's shards,
    which are flat and padded already (torch/distributed/fsdp/_flat_param.py, `_get_shard`). Which rank it is
    decides the gradients of ZeRO's stages 1 and 2 alone. Raises nothing.
    """
    if isinstance(plan, PlanFault):
        return Prediction(NOTHING, Unpredicted.PLAN_BROKEN, plan.detail)
    if not plan.complete:
        found = f"{len(plan.parameters)}/{plan.parameters_total}"
        return Prediction(NOTHING, Unpredicted.PLAN_CUT, found)
    try:
        if plan.wrapper == "deepspeed":
            return _predict_zero(plan, identity)
        if plan.wrapper in _WRAPPERS:
            return _predict(plan)
    except _NoRuleError as missing:
        return Prediction(NOTHING, missing.reason, missing.detail)
    return Prediction(NOTHING, Unpredicted.WRAPPER, plan.wrapper)


def _predict_zero(plan: JobPlan, identity: Ranked | None) -> Prediction:
    try:
        groups = zero_groups(plan)
    except ValueRangeError as error:
        raise _NoRuleError(Unpredicted.DTYPE, str(error)) from error
    if not groups:
        raise _NoRuleError(Unpredicted.WRAPPER, plan.wrapper)
    rules = _zero_rules(plan, len(groups))
    is_whole = identity is not None and identity.world_size == groups[0].dp
    rank = identity.rank if identity is not None and is_whole else None
    held, lack = zero_held(groups, rules, rank), zero_lack(groups, rank)
    if rules is None:
        names = ", ".join(sorted({optimizer.name for optimizer in plan.optimizers}))
        return Prediction(held, Unpredicted.OPTIMIZER, names)
    return Prediction(held) if lack is None else Prediction(held, Unpredicted.ZERO, lack)


def _zero_rules(plan: JobPlan, count: int) -> list[OptimizerRule] | None:
    """The rule of every group of ZeRO's.

    Stage 3 may split a parameter group, and stages 1 and 2 show PyTorch's optimizer one at a time: where the
    numbers differ, all rules have to be alike.
    """
    rules = [rule for rule in _rules(plan).values() if rule is not None]
    if not rules or len(rules) < len(_rules(plan)):
        return None
    if len(rules) == count:
        return rules
    return [rules[0]] * count if len(set(rules)) == 1 else None


def _predict(plan: JobPlan) -> Prediction:
    rules = _rules(plan)
    unknown = next((name for name, rule in rules.items() if rule is None), None)
    weights = gradients = optimizer = 0
    for parameter, count in _alike(plan):
        rule = rules.get(_place(parameter)) or _WITHOUT_STATE
        held = _bytes(parameter, plan, rule.moments)
        weights += count * held.weights
        gradients += count * held.gradients
        optimizer += count * (held.moments + (held.device_steps + held.host_steps) * rule.scalars)
    if plan.wrapper == "fsdp1" and not plan.groups:
        return Prediction(Held(optimizer=None if unknown else optimizer), Unpredicted.FLAT)
    if unknown is None:
        return Prediction(Held(weights, gradients, optimizer))
    name = plan.optimizers[unknown[0]].name
    return Prediction(Held(weights, gradients), Unpredicted.OPTIMIZER, name)


_Place = tuple[int, int]
"""Optimizer and parameter group."""


def _rules(plan: JobPlan) -> dict[_Place | None, OptimizerRule | None]:
    """The rule of every parameter group; a parameter in none of them has no state."""
    return {
        (index, number): optimizer_rule(optimizer.name, group.arguments)
        for index, optimizer in enumerate(plan.optimizers)
        for number, group in enumerate(optimizer.groups)
    }


def _alike(plan: JobPlan) -> Iterable[tuple[PlannedParameter, int]]:
    """One of all parameters that take the same bytes, and how many there are: a model repeats its layers."""
    shards = {index: group.shards for index, group in enumerate(plan.groups)}
    found: dict[tuple[object, ...], list[PlannedParameter]] = defaultdict(list)
    for parameter in plan.parameters:
        if plan.wrapper == "fsdp1" and 0 in parameter.shape:
            continue  # another rank's: without a gradient here, and so without a state
        group = parameter.fsdp_group
        key = (
            parameter.shape, parameter.dtype, parameter.trainable, parameter.optimizer, parameter.param_group,
            None if group is None else shards.get(group, -1),
            parameter.placements, parameter.mesh_shape, parameter.coordinate,
        )  # fmt: skip
        found[key].append(parameter)
    return [(parameters[0], len(parameters)) for parameters in found.values()]


def _place(parameter: PlannedParameter) -> _Place | None:
    optimizer, group = parameter.optimizer, parameter.param_group
    return None if optimizer is None or group is None else (optimizer, group)


def _bytes(parameter: PlannedParameter, plan: JobPlan, moments: Moments) -> ShardedBytes:
    """What this rank holds of one parameter."""
    try:
        shape, shard = local_parameter(parameter, plan)
        local = ParameterShape(parameter.name, shape, parameter.dtype, parameter.trainable)
        return sharded_bytes([local], shard, moments)
    except PlacementError as error:
        raise _NoRuleError(Unpredicted.PLACEMENT, f"{parameter.name}: {error}") from error
    except ValueRangeError as error:
        raise _NoRuleError(Unpredicted.DTYPE, str(error)) from error
