"""Expert parallelism: there are experts, it deals them out evenly, and its group exists."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, ScenarioError
from scaletui_engine.memory.load import expert_tp
from scaletui_engine.plan import Strategy
from scaletui_engine.validate.nearest import divisors

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario


def expert_group(plan: Plan) -> int:
    """Ranks of a pipeline stage that experts may be dealt to: dp_shard x cp x tp; ddp takes all of dp."""
    axes = plan.axes
    return (axes.dp if plan.strategy is Strategy.DDP else axes.dp_shard) * axes.cp * axes.tp


def check_experts(scenario: Scenario) -> None:
    """Raises ScenarioError for experts that are not there, DivisibilityError for an uneven deal."""
    moe, ep, group = scenario.model.arch.moe, scenario.plan.axes.ep, expert_group(scenario.plan)
    if ep == 1:
        _check_width(scenario)
        return
    if moe is None:
        raise ScenarioError(f"ep {ep}, but {scenario.model.id} has no experts", "ep 1")
    nearest = f"ep {_nearest(moe.experts, group, ep)}"
    if moe.experts % ep:
        raise DivisibilityError(
            f"{moe.experts} experts / ep {ep} = {moe.experts / ep:.4g}, not a whole number", nearest
        )
    if group % ep:
        raise DivisibilityError(f"{_group(scenario.plan)} = {group}, which ep {ep} does not divide", nearest)
    _check_expert_tensor_parallel(scenario)
    _check_width(scenario)


def _check_width(scenario: Scenario) -> None:
    """Each expert is cut by as much of tp as it keeps: all of it with ep 1 (`expert_tp`)."""
    moe, plan = scenario.model.arch.moe, scenario.plan
    if moe is None:
        return
    tp = expert_tp(plan, plan.framework)
    if moe.ffn % tp:
        raise DivisibilityError(
            f"expert ffn {moe.ffn} / tp {tp} = {moe.ffn / tp:.4g}, not a whole number",
            f"tp {gcd(moe.ffn, tp)}",
        )


def _check_expert_tensor_parallel(scenario: Scenario) -> None:
    moe, etp = scenario.model.arch.moe, scenario.plan.runtime.etp
    if moe is None or etp is None:
        return
    ep, group = scenario.plan.axes.ep, expert_group(scenario.plan)
    if etp < 1 or moe.ffn % etp:
        raise DivisibilityError(f"expert ffn {moe.ffn} / etp {etp} is not a whole number", "etp 1")
    if group % (ep * etp):
        raise DivisibilityError(
            f"{_group(scenario.plan)} = {group}, which ep {ep} x etp {etp} does not divide", "etp 1"
        )


def _group(plan: Plan) -> str:
    axes = plan.axes
    data = f"dp {axes.dp}" if plan.strategy is Strategy.DDP else f"dp_shard {axes.dp_shard}"
    return f"{data} x cp {axes.cp} x tp {axes.tp}"


def _nearest(experts: int, group: int, ep: int) -> int:
    good = [degree for degree in divisors(experts) if group % degree == 0]
    return min(good, key=lambda degree: (abs(degree - ep), degree))
