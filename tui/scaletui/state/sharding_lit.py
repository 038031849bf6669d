"""Which ranks of the mesh are lit, and by which letter: the groups of a rank, or of a row of traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state.sharding_picture import held_with
from scaletui.state.sharding_sight import holds
from scaletui_engine.sharding.orders import Order, mesh_of
from scaletui_engine.sharding.part import Part
from scaletui_engine.sharding.rank_card import expert_mesh, second_mesh
from scaletui_engine.sharding.traffic.table import groups_named

if TYPE_CHECKING:
    from scaletui.state.sharding_sight import Sight
    from scaletui_engine.sharding.holders import Holders
    from scaletui_engine.sharding.mesh import Mesh

LETTERS: Final = {
    "tp": "t", "cp": "c", "dp_shard": "d", "dp_replicate": "r", "pp": "p", "ep": "e", "efsdp": "x",
    "etp": "t", "hpz": "h", "hpz_groups": "d",
}  # fmt: skip
"""Axis -> the letter behind the ranks of the chosen rank's group."""
GROUPS: Final = {
    "fsdp": "d", "dp_cp": "d", "edp": "x", "expert_replicate": "r", "embedding": "p", "world": "*",
}  # fmt: skip
"""The same of groups that are no axis of their own."""
SAME: Final = "="
LOCAL: Final = ("t", "e")
"""Groups that talk in every layer: they should not leave the fast links."""


@dataclass(frozen=True, slots=True)
class Lit:
    """The answer for any rank."""

    sight: Sight
    mesh: Mesh
    """The axes whose groups are lit: the experts' own for an expert, else the plan's."""
    place: tuple[int, ...]
    """Coordinate of the chosen rank."""
    held: Holders | None
    """The ranks of its tile."""
    group: frozenset[int] | None = None
    """The ranks of the chosen row of traffic, as the order numbers them; None where none is chosen."""
    letter: str = ""
    """Of that row."""

    def mark(self, rank: int) -> str:
        """ "=" for the same tile, a letter for a group of the chosen rank, a blank for neither."""
        if self.letter:
            return self.letter if self.group is None or rank in self.group else " "
        counted = self.sight.counted(rank)
        if holds(self.held, counted):
            return SAME
        other = self.mesh.coordinate(counted)
        differ = [index for index, place in enumerate(self.place) if other[index] != place]
        return LETTERS[self.mesh.names[differ[0]]] if len(differ) == 1 else " "

    def is_far(self, rank: int, mark: str) -> bool:
        """Whether a rank with that mark is in a group that should not leave the domain, and lies outside."""
        domain = self.sight.scenario.cluster.domain
        return mark in LOCAL and rank // domain != self.sight.look.rank // domain


def lit_of(sight: Sight) -> Lit:
    """What is lit around the rank that is looked at."""
    mesh = mesh_lit(sight)
    place, row = mesh.coordinate(sight.rank), sight.row
    if row is None:
        return Lit(sight, mesh, place, held_with(sight.view, sight.rank))
    letter = GROUPS.get(row.group) or LETTERS[row.group]
    members = None if row.group == "world" else frozenset(row_ranks(sight))
    return Lit(sight, mesh, place, None, members, letter)


def mesh_lit(sight: Sight) -> Mesh:
    """The axes that the tensor is cut along."""
    if sight.view.named.tensor.is_expert:
        return expert_mesh(sight.scenario)
    if sight.look.part is Part.SECONDARY:
        return second_mesh(sight.scenario)
    return mesh_of(sight.scenario.plan.axes, Order.MEGATRON)


def row_ranks(sight: Sight) -> tuple[int, ...]:
    """The group of the chosen row that the rank is in; of a tied table the ends of the pipeline.

    None of them where the row is all ranks.
    """
    if sight.row is None or sight.row.group == "world":
        return ()
    ranks = groups_named(sight.scenario, sight.row.group, sight.look.order).of(sight.look.rank)
    return (ranks[0], ranks[-1]) if sight.row.group == "embedding" else ranks
