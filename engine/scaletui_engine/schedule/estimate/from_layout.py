"""Stages as Megatron-LM's layout deals them: to the times of one layer, or to a scenario's own model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scaletui_engine.plan import Split
from scaletui_engine.schedule.interchange.megatron_layout import layout_of, require_layers, require_ranks
from scaletui_engine.stages import layer_counts
from scaletui_engine.validate import validate

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.schedule.interchange.megatron_layout import Layout
    from scaletui_engine.schedule.times import Times


def layered(times: Times, layout: Layout) -> Times:
    """Times of one layer as times of the layout's stages; those that name every stage stay as they are.

    A multi-token prediction (m) is one layer; embedding and loss take no time.
    """
    layers = [stage.count("t") + stage.count("m") for stage in layout.stages]

    def each(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(values[0] * count for count in layers) if len(values) == 1 else values

    return replace(
        times,
        forward=each(times.forward),
        input_grad=each(times.input_grad),
        weight_grad=each(times.weight_grad),
        backward=None if times.backward is None else each(times.backward),
    )


def dealt(scenario: Scenario, layout: Layout) -> Scenario:
    """The scenario with the layout's stages, in the order of the model; chunks follow from its ranks.

    Raises ScenarioError as `validate` does, DivisibilityError where ranks or layers do not come out even.
    """
    require_layers(layout, scenario.model.arch.layers)
    chunks = require_ranks(layout, scenario.plan.axes.pp)
    plan = replace(scenario.plan, chunks=chunks, layer_split=Split.FRONT)
    # A valid scenario has a layer on every stage; a layout may leave one to embedding or loss alone.
    validate(replace(scenario, plan=plan))
    return replace(scenario, plan=replace(plan, layer_split=layout.layers))


def scenario_layout(scenario: Scenario) -> Layout:
    """The layout that a valid scenario's split is. Raises DivisibilityError as `layer_counts` does."""
    plan = scenario.plan
    return layout_of(layer_counts(scenario.model.arch.layers, plan.stages, plan.layer_split))
