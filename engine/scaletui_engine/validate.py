"""Whether a scenario can run, and if not, which equation fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.errors import DivisibilityError, WorldSizeError
from scaletui_engine.optimizers import optimizer
from scaletui_engine.precisions import precision
from scaletui_engine.schedule_rules import schedule_rule
from scaletui_engine.stages import stage_layers

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


def validate(scenario: Scenario) -> None:
    """Raises the ScenarioError of the first rule that the scenario breaks."""
    plan, axes = scenario.plan, scenario.plan.axes
    if axes.world != scenario.cluster.gpus:
        raise WorldSizeError(
            f"tp {axes.tp} x cp {axes.cp} x pp {axes.pp} x dp {axes.dp} = {axes.world}, "
            f"but the cluster has {scenario.cluster.gpus} GPUs"
        )
    if plan.global_batch % (plan.micro_batch * axes.dp):
        raise DivisibilityError(
            f"global batch {plan.global_batch} / (micro-batch {plan.micro_batch} x dp {axes.dp}) is not whole"
        )
    precision(plan.precision)
    optimizer(plan.optimizer)
    schedule_rule(plan.schedule)
    stage_layers(scenario.model.arch.layers, plan)
