"""What a reader of the sharding screen has before them: a parameter, a rank, an order of ranks, switches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaletui_engine.sharding.orders import Order, mesh_of
from scaletui_engine.sharding.tensor_map import Part
from scaletui_engine.tensors import tensors

if TYPE_CHECKING:
    from scaletui_engine.model import Arch
    from scaletui_engine.plan import Axes


@dataclass(frozen=True, slots=True)
class Look:
    """Replaced with every key."""

    parameter: str = ""
    """Name, "{layer}" standing for all layers; the first matrix of a layer where the model lacks it."""
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


def settled(look: Look, arch: Arch, world: int) -> Look:
    """The look at another scenario: a parameter, a layer and a rank that it has."""
    named = {tensor.name: tensor for tensor in tensors(arch)}
    name = look.parameter if look.parameter in named else _first(arch)
    layers = named[name].layers
    layer = look.layer if layers is not None and look.layer in layers else None
    return replace(look, parameter=name, layer=layer, rank=min(max(look.rank, 0), world - 1))


def _first(arch: Arch) -> str:
    """A matrix inside the layers says more than the embedding."""
    every = tensors(arch)
    inside = (tensor.name for tensor in every if tensor.layers is not None and len(tensor.shape) > 1)
    return next(inside, every[0].name)


def walked(look: Look, arch: Arch, steps: int) -> Look:
    """Another parameter; the list ends at its ends."""
    names = [tensor.name for tensor in tensors(arch)]
    place = names.index(look.parameter) if look.parameter in names else 0
    return replace(look, parameter=names[min(max(place + steps, 0), len(names) - 1)], pair=0)


def next_part(look: Look) -> Look:
    """Weights, gradients, optimizer, and round again."""
    parts = tuple(Part)
    return replace(look, part=parts[(parts.index(look.part) + 1) % len(parts)])


def renumbered(look: Look, axes: Axes, order: Order) -> Look:
    """The same place on the mesh under the number that another order gives it."""
    return replace(look, order=order, rank=shown_rank(axes, order, mesh_rank(axes, look.order, look.rank)))


def next_order(look: Look, axes: Axes) -> Look:
    """The next framework's order of ranks."""
    orders = tuple(Order)
    return renumbered(look, axes, orders[(orders.index(look.order) + 1) % len(orders)])


def shown_rank(axes: Axes, order: Order, rank: int) -> int:
    """An order's number for the rank that Megatron numbers `rank`."""
    return _moved(axes, rank, (Order.MEGATRON, order))


def mesh_rank(axes: Axes, order: Order, shown: int) -> int:
    """Megatron's number for the rank that an order numbers `shown`."""
    return _moved(axes, shown, (order, Order.MEGATRON))


def _moved(axes: Axes, rank: int, orders: tuple[Order, Order]) -> int:
    before, after = (mesh_of(axes, order) for order in orders)
    if before.names == after.names:
        return rank
    places = dict(zip(before.names, before.coordinate(rank), strict=True))
    return after.rank(tuple(places[name] for name in after.names))
