"""On which pipeline ranks a named tensor lies, and which layer stands for all where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.sharding.rank_view import held_tensors, rank_view

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.held_row import HeldRow
    from scaletui_engine.sharding.names import Named
    from scaletui_engine.sharding.part import Part


def stages_of(scenario: Scenario, named: Named, part: Part) -> tuple[int, ...]:
    """Pipeline ranks that hold a tensor (any layer of it where none is named), each once."""
    return tuple(
        stage
        for stage in range(scenario.plan.axes.pp)
        if any(
            tensor.name == named.tensor.name
            and (named.layer is None or tensor.layers is None or named.layer in tensor.layers)
            for tensor in held_tensors(scenario, stage, part)
        )
    )


def layer_of(named: Named) -> int | None:
    """The layer that was named, else the first one; None outside the layers."""
    layers = named.tensor.layers
    return named.layer if named.layer is not None or layers is None else layers[0]


def layer_on(scenario: Scenario, named: Named, stage: int, part: Part) -> int | None:
    """The layer that was named, else the first one that a pipeline rank holds; of all where it holds none."""
    if named.layer is not None or named.tensor.layers is None:
        return named.layer
    held = held_tensors(scenario, stage, part)
    own = (each.layers[0] for each in held if each.name == named.tensor.name and each.layers)
    return next(own, named.tensor.layers[0])


def held_row(scenario: Scenario, named: Named, rank: int, part: Part) -> HeldRow | None:
    """What a rank holds of a tensor, of its stage's first layer where none is named."""
    layer = layer_on(scenario, named, rank * scenario.plan.axes.pp // scenario.plan.axes.world, part)
    return next(
        (
            row
            for row in rank_view(scenario, rank, part).rows
            if row.tensor.name == named.tensor.name and (row.layers is None or layer in row.layers)
        ),
        None,
    )
