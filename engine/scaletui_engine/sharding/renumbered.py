"""Groups that run along an axis of their own (experts, second copies), under any numbering of the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.sharding.orders import Order, renumbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.plan import Axes
    from scaletui_engine.sharding.mesh import Groups


@dataclass(frozen=True, slots=True)
class Renumbered:
    """Groups that are known in Megatron's numbering, answered in another's."""

    groups: Groups
    axes: Axes
    order: Order

    @property
    def size(self) -> int:
        """Ranks of a group."""
        return self.groups.size

    @property
    def count(self) -> int:
        """Groups in all."""
        return self.groups.count

    def of(self, rank: int) -> tuple[int, ...]:
        """The members of a rank's group, ascending."""
        return self._shown(self.groups.of(renumbered(self.axes, rank, (self.order, Order.MEGATRON))))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Every group."""
        return map(self._shown, self.groups)

    def crossing(self, block: int) -> int:
        """How many groups leave a block of `block` consecutive ranks: each is looked at."""
        return sum(group[0] // block != group[-1] // block for group in self)

    def crosses(self, rank: int, block: int) -> bool:
        """Whether a rank's group leaves its block."""
        group = self.of(rank)
        return group[0] // block != group[-1] // block

    def _shown(self, group: tuple[int, ...]) -> tuple[int, ...]:
        orders = (Order.MEGATRON, self.order)
        return tuple(sorted(renumbered(self.axes, rank, orders) for rank in group))


def in_order(groups: Groups, axes: Axes, order: Order) -> Groups | Renumbered:
    """The groups themselves where the order numbers ranks as Megatron does."""
    return Renumbered(groups, axes, order) if order is Order.LLAMA3 else groups
