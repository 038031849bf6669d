"""What a rank should hold, from the plan and the parameter shapes alone, never from a measured byte."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ValueRangeError
from scaletui_engine.live.held import NOTHING, Held
from scaletui_engine.live.optimizer_rule import OptimizerRule, optimizer_rule
from scaletui_engine.live.placement import PlacementError, local_parameter
from scaletui_engine.live.plan_document import JobPlan, PlanFault
from scaletui_engine.memory.fsdp2 import Moments, ParameterShape, Shard, ShardedBytes, sharded_bytes

if TYPE_CHECKING:
    from scaletui_engine.live.plan_document import PlannedParameter

PREDICTED: Final = ("weights", "gradients", "optimizer")
"""The categories that shapes and plan decide to the byte."""


class Unpredicted(StrEnum):
    """Why there is no prediction, or only part of one."""

    NOTHING = ""
    NO_PLAN = "no plan yet"
    """The job has not made its first optimizer step."""
    UNREAD = "the plan has not been read yet"
    """Plans of many ranks are read a few at a time."""
    PLAN_BROKEN = "the plan cannot be read"
    PLAN_CUT = "the plan is cut"
    """More parameters than fit into the ring."""
    WRAPPER = "no rule for this wrapper"
    PLACEMENT = "no rule for this placement"
    DTYPE = "no rule for this dtype"
    OPTIMIZER = "no rule for this optimizer"
    """Weights and gradients are predicted all the same."""
    FLAT = "the flat parameter cannot be seen"
    """FSDP1 shows its original parameters; how much padding lies between them in the flat one is not known.
    The optimizer, which pads nothing, is predicted all the same."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Bytes that a rank should hold between two optimizer steps; None where there is no rule."""

    held: Held
    reason: Unpredicted = Unpredicted.NOTHING
    detail: str = ""
    """The class, wrapper or parameter that has no rule."""


NO_PLAN: Final = Prediction(NOTHING, Unpredicted.NO_PLAN)
UNREAD: Final = Prediction(NOTHING, Unpredicted.UNREAD)
_WRAPPERS: Final = ("fsdp2", "fsdp1", "plain")
_WITHOUT_STATE: Final = OptimizerRule(Moments(0, steps=False), 0)


class _NoRuleError(Exception):
    """A parameter that no rule covers."""

    def __init__(self, reason: Unpredicted, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def predict(plan: JobPlan | PlanFault) -> Prediction:
    """Weights and gradients as padded storage, the optimizer as unpadded moments and step scalars.

    Tied parameters are one row of a plan, and so count once. FSDP1's rows have the sizes of a rank's shards,
    which are flat and padded already (torch/distributed/fsdp/_flat_param.py, `_get_shard`). Raises nothing.
    """
    if isinstance(plan, PlanFault):
        return Prediction(NOTHING, Unpredicted.PLAN_BROKEN, plan.detail)
    if not plan.complete:
        found = f"{len(plan.parameters)} of {plan.parameters_total}"
        return Prediction(NOTHING, Unpredicted.PLAN_CUT, found)
    if plan.wrapper not in _WRAPPERS:
        return Prediction(NOTHING, Unpredicted.WRAPPER, plan.wrapper)
    try:
        return _predict(plan)
    except _NoRuleError as missing:
        return Prediction(NOTHING, missing.reason, missing.detail)


def _predict(plan: JobPlan) -> Prediction:
    rules = _rules(plan)
    unknown = next((name for name, rule in rules.items() if rule is None), None)
    weights = gradients = optimizer = 0
    for (shard, place), parameters in _by_shard(plan).items():
        rule = rules.get(place) or _WITHOUT_STATE
        held = _bytes(parameters, shard, rule.moments)
        weights += held.weights
        gradients += held.gradients
        optimizer += held.moments + (held.device_steps + held.host_steps) * rule.scalars
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


def _by_shard(plan: JobPlan) -> dict[tuple[Shard, _Place | None], list[ParameterShape]]:
    """Parameters that are cut the same way and kept by the same optimizer group, as one rank sees them."""
    found: dict[tuple[Shard, _Place | None], list[ParameterShape]] = defaultdict(list)
    for parameter in plan.parameters:
        if plan.wrapper == "fsdp1" and 0 in parameter.shape:
            continue  # another rank's: without a gradient here, and so without a state
        shape, shard = _local(parameter, plan)
        place = parameter.optimizer, parameter.param_group
        found[shard, _known(place)].append(
            ParameterShape(parameter.name, shape, parameter.dtype, parameter.trainable)
        )
    return found


def _known(place: tuple[int | None, int | None]) -> _Place | None:
    optimizer, group = place
    return None if optimizer is None or group is None else (optimizer, group)


def _local(parameter: PlannedParameter, plan: JobPlan) -> tuple[tuple[int, ...], Shard]:
    try:
        return local_parameter(parameter, plan)
    except PlacementError as error:
        raise _NoRuleError(Unpredicted.PLACEMENT, f"{parameter.name}: {error}") from error


def _bytes(parameters: list[ParameterShape], shard: Shard, moments: Moments) -> ShardedBytes:
    try:
        return sharded_bytes(parameters, shard, moments)
    except ValueRangeError as error:
        raise _NoRuleError(Unpredicted.DTYPE, str(error)) from error
