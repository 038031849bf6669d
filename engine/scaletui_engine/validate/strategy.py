"""The strategy agrees with the data-parallel axes, the pipeline and the offload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ScenarioError
from scaletui_engine.plan import Offload, Strategy

if TYPE_CHECKING:
    from scaletui_engine.plan import Plan
    from scaletui_engine.scenario import Scenario

_REPLICATES: Final = (Strategy.DDP, Strategy.HSDP, Strategy.FSDP1)
"""What takes dp_replicate: FSDP1 on a mesh of two axes is its HYBRID_SHARD."""


def check_strategy(scenario: Scenario) -> None:
    """Raises ScenarioError."""
    plan = scenario.plan
    _check_data_parallel(plan)
    if plan.axes.pp > 1 and plan.strategy in (Strategy.ZERO2, Strategy.ZERO3):
        raise ScenarioError(
            f"{plan.strategy} with pp {plan.axes.pp}: DeepSpeed's pipeline engine keeps gradients whole",
            "strategy zero1",
        )
    if plan.offload is Offload.PARAMS and not plan.strategy.shards_weights:
        raise ScenarioError(
            f"offload params with {plan.strategy}: only sharded weights are gathered from host memory",
            "strategy fsdp, or offload optimizer",
        )


def _check_data_parallel(plan: Plan) -> None:
    axes, strategy = plan.axes, plan.strategy
    if strategy is Strategy.DDP and axes.dp_shard > 1:
        raise ScenarioError(
            f"ddp shards nothing, but dp_shard = {axes.dp_shard}", f"dp_replicate {axes.dp}, dp_shard 1"
        )
    if strategy is Strategy.HSDP and axes.dp < 2:
        raise ScenarioError(
            f"hsdp needs dp >= 2, but dp_replicate {axes.dp_replicate} x dp_shard {axes.dp_shard} "
            f"= {axes.dp}",
            "strategy fsdp",
        )
    if strategy not in _REPLICATES and axes.dp_replicate > 1:
        nearest = f"dp_replicate 1, dp_shard {axes.dp}"
        raise ScenarioError(
            f"{strategy} shards over all of dp, but dp_replicate = {axes.dp_replicate}",
            f"{nearest}, or strategy hsdp" if strategy is Strategy.FSDP and axes.dp_shard > 1 else nearest,
        )
