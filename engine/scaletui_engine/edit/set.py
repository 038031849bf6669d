"""Setting a field, and carrying along what depends on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scaletui_engine.catalog import load_gpu, load_model
from scaletui_engine.edit.fields import AXES, check_field
from scaletui_engine.edit.settle import settle
from scaletui_engine.model import Model

if TYPE_CHECKING:
    from scaletui_engine.edit.fields import Value
    from scaletui_engine.scenario import Scenario


def with_value(scenario: Scenario, field: str, value: Value | Model) -> Scenario:
    """The scenario with the field set and what depends on it settled; not yet validated.

    Data parallelism takes the GPUs that the other axes leave, the global batch stays the nearest whole
    number of microbatches, and chunks, expert parallelism and sequence stay inside their new limits.
    Raises UnknownNameError.
    """
    check_field(field)
    return settle(_set(scenario, field, value), field)


def _set(scenario: Scenario, field: str, value: Value | Model) -> Scenario:
    if field == "model":
        return replace(scenario, model=value if isinstance(value, Model) else load_model(str(value)))
    if field == "gpu":
        return replace(scenario, cluster=replace(scenario.cluster, gpu=load_gpu(str(value))))
    change: dict[str, Any] = {field: value}
    if field in ("gpus", "gpus_per_node"):
        return replace(scenario, cluster=replace(scenario.cluster, **change))
    if field in AXES:
        axes = replace(scenario.plan.axes, **change)
        return scenario.with_plan(replace(scenario.plan, axes=axes))
    return scenario.with_plan(replace(scenario.plan, **change))
