"""What a reader of the sharding screen has before them: a tensor, a rank, an order of ranks, switches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.sharding.activations import listed
from scaletui_engine.sharding.orders import Order, renumbered
from scaletui_engine.sharding.part import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui_engine.model import Tensor
    from scaletui_engine.plan import Axes
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Look:
    """Replaced with every key."""

    parameter: str = ""
    """Name, "{layer}" standing for all layers; the first matrix of a layer where the model lacks it."""
    activation: str = ""
    """The same of the activations, so that a reader finds both again."""
    layer: int | None = None
    part: Part = Part.WEIGHTS
    rank: int = 0
    """As the chosen order numbers it."""
    order: Order = Order.MEGATRON
    pair: int = 0
    """Which two dims are drawn, of a tensor with more."""
    implemented: bool = True
    """Whether traffic is what a framework sends, or what papers count."""
    tall: bool = False
    """Whether traffic has the room of the two pictures."""
    edits: bool = False
    """Whether arrow keys walk the plan's fields instead of the tensor."""
    traffic_row: int | None = None
    """Which row of the traffic is chosen: its group alone is lit on the mesh."""
    declared: bool = False
    """Whether tiles are drawn as DTensor's placements declare them."""

    @property
    def name(self) -> str:
        """The tensor that is looked at."""
        return self.activation if self.part is Part.ACTIVATIONS else self.parameter

    def at(self, name: str) -> Look:
        """The same look at another tensor of the part."""
        if self.part is Part.ACTIVATIONS:
            return replace(self, activation=name, pair=0)
        return replace(self, parameter=name, pair=0)


def settled(look: Look, scenario: Scenario) -> Look:
    """The look at another scenario: a part, a tensor, a layer and a rank that it has."""
    if look.part not in parts_of(scenario):
        look = replace(look, part=Part.WEIGHTS)
    named = {tensor.name: tensor for tensor in listed(scenario, look.part)}
    if look.name not in named:
        look = replace(look.at(_first(tuple(named.values()))), pair=look.pair)
    layers = named[look.name].layers
    layer = look.layer if layers is not None and look.layer in layers else None
    return replace(look, layer=layer, rank=min(max(look.rank, 0), scenario.plan.axes.world - 1))


def _first(every: Sequence[Tensor]) -> str:
    """A matrix inside the layers says more than the embedding."""
    inside = (tensor.name for tensor in every if tensor.layers is not None and len(tensor.shape) > 1)
    return next(inside, every[0].name)


def walked(look: Look, scenario: Scenario, steps: int) -> Look:
    """Another tensor; the list ends at its ends."""
    names = [tensor.name for tensor in listed(scenario, look.part)]
    place = names.index(look.name) if look.name in names else 0
    return look.at(names[min(max(place + steps, 0), len(names) - 1)])


def parts_of(scenario: Scenario) -> tuple[Part, ...]:
    """What a plan has: second copies of the weights only with ZeRO++."""
    second = scenario.plan.runtime.zero_hpz > 1
    return tuple(part for part in Part if part is not Part.SECONDARY or second)


def next_part(look: Look, scenario: Scenario) -> Look:
    """Weights, gradients, optimizer, activations, gradients before their sum, and round again."""
    parts = parts_of(scenario)
    place = parts.index(look.part) if look.part in parts else -1
    return replace(look, part=parts[(place + 1) % len(parts)], pair=0)


def reordered(look: Look, axes: Axes, order: Order) -> Look:
    """The same place on the mesh under the number that another order gives it."""
    return replace(look, order=order, rank=renumbered(axes, look.rank, (look.order, order)))


def next_order(look: Look, axes: Axes) -> Look:
    """The next framework's order of ranks."""
    orders = tuple(Order)
    return reordered(look, axes, orders[(orders.index(look.order) + 1) % len(orders)])


def next_row(look: Look, rows: int, steps: int) -> Look:
    """Another row of the traffic; beyond either end none is chosen."""
    places = (None, *range(rows))
    here = places.index(look.traffic_row) if look.traffic_row in places else 0
    return replace(look, traffic_row=places[(here + steps) % len(places)])
