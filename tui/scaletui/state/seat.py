"""One rank of a scenario, as an order of ranks numbers it: its pipeline stage, and who is in its groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.sharding.orders import Order, renumbered
from scaletui_engine.sharding.traffic.table import groups_named

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Seat:
    """Whose place in a job is played."""

    rank: int = 0
    order: Order = Order.MEGATRON

    def stage(self, scenario: Scenario) -> int:
        """The pipeline rank that it is."""
        axes = scenario.plan.axes
        rank = renumbered(axes, self.within(scenario), (self.order, Order.MEGATRON))
        return rank // (axes.world // axes.pp)

    def within(self, scenario: Scenario) -> int:
        """The rank, or the last one of a smaller scenario."""
        return min(self.rank, scenario.plan.axes.world - 1)


@lru_cache(maxsize=16)
def members(scenario: Scenario, group: str, size: int, seat: Seat) -> tuple[int, ...]:
    """The ranks of the seat's group, ascending; of the embedding's group first and last stage alone.

    Empty where the group named so has another size: then nobody knows who is in it.
    """
    if group == "world":
        return tuple(range(size)) if size == scenario.plan.axes.world else ()
    found = groups_named(scenario, group, seat.order).of(seat.within(scenario))
    if group == "embedding" and size == 2:
        return (found[0], found[-1])
    return found if len(found) == size else ()
