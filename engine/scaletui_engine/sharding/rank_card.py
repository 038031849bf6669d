"""Where a rank stands: its coordinate under every convention, its node, its groups and their links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui_engine.memory.load import load_of
from scaletui_engine.sharding.axes import expert_axes
from scaletui_engine.sharding.mesh import Axis, Groups, Mesh
from scaletui_engine.sharding.orders import Order, framework_coordinate, mesh_of
from scaletui_engine.sharding.renumbered import Renumbered, in_order

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class GroupCard:
    """One axis' groups, and the one that the rank is in."""

    name: str
    size: int
    count: int
    leave_node: int
    leave_domain: int
    ranks: tuple[int, ...]
    stays: bool
    """Whether the rank's own group stays inside its NVLink domain."""


@dataclass(frozen=True, slots=True)
class MeshCard:
    """A mesh in one order, looked at from one rank."""

    order: Order
    axes: tuple[tuple[str, int], ...]
    """(axis, degree), slowest first."""
    rank: int
    coordinate: dict[str, int]
    node: int
    domain: int
    conventions: dict[str, dict[str, int]]
    """The same rank number under every framework's numbering."""
    groups: tuple[GroupCard, ...]
    world: int


def mesh_card(scenario: Scenario, rank: int, order: Order = Order.MEGATRON) -> MeshCard:
    """The card of a rank. Raises ValueRangeError for a rank outside the world."""
    axes, cluster = scenario.plan.axes, scenario.cluster
    mesh = mesh_of(axes, order)
    places = dict(zip(mesh.names, mesh.coordinate(rank), strict=True))
    conventions = {str(each): framework_coordinate(each, axes, rank) for each in Order}
    cards = tuple(_card(scenario, name, groups, rank) for name, groups in groups_of(scenario, order))
    shown = tuple((axis.name, axis.size) for axis in mesh.axes)
    node, domain = rank // cluster.gpus_per_node, rank // cluster.domain
    return MeshCard(order, shown, rank, places, node, domain, conventions, cards, mesh.world)


def groups_of(
    scenario: Scenario, order: Order = Order.MEGATRON
) -> tuple[tuple[str, Groups | Renumbered], ...]:
    """Every group that a framework makes of more than one rank: the axes, and the axes taken together."""
    mesh, axes = mesh_of(scenario.plan.axes, order), scenario.plan.axes
    named: list[tuple[str, Groups | Renumbered]] = []
    named += [(name, mesh.groups(name)) for name in ("tp", "cp", "pp", "dp_shard", "dp_replicate")]
    together = (("dp", ("dp_replicate", "dp_shard")), ("fsdp", ("dp_shard", "cp")))
    named += [(name, mesh.groups(*parts)) for name, parts in together if min(map(mesh.size, parts)) > 1]
    if axes.cp > 1 and axes.dp_replicate > 1:
        named.append(("dp_cp", mesh.groups("dp_replicate", "dp_shard", "cp")))
    named += [(name, in_order(groups, axes, order)) for name, groups in own_groups(scenario)]
    return tuple((name, groups) for name, groups in named if groups.size > 1)


def own_groups(scenario: Scenario) -> tuple[tuple[str, Groups], ...]:
    """Groups on meshes of their own, in Megatron's numbering: of experts, and of ZeRO++'s second copies."""
    found: list[tuple[str, Groups]] = []
    if scenario.plan.axes.ep > 1:
        experts = expert_mesh(scenario)
        found += [("ep", experts.groups("ep")), ("edp", experts.groups("efsdp"))]
        found.append(("etp", experts.groups("etp")))
    if scenario.plan.runtime.zero_hpz > 1:
        found.append(("hpz", second_mesh(scenario).groups("hpz")))
    return tuple(found)


def expert_mesh(scenario: Scenario) -> Mesh:
    """The mesh of experts: (pp, dp_replicate, efsdp, ep, etp)."""
    load = load_of(scenario.model.arch, scenario.plan)
    return Mesh((Axis("pp", scenario.plan.axes.pp), *expert_axes(load)))


def second_mesh(scenario: Scenario) -> Mesh:
    """Data-parallel ranks in the groups that share a second copy: (pp, groups, hpz, tp)."""
    axes, group = scenario.plan.axes, scenario.plan.runtime.zero_hpz
    parts = (("pp", axes.pp), ("hpz_groups", axes.dp * axes.cp // group), ("hpz", group), ("tp", axes.tp))
    return Mesh(tuple(Axis(name, size) for name, size in parts))


@lru_cache(maxsize=256)
def crossings(groups: Groups | Renumbered, block: int) -> int:
    """How many groups leave a block; where each has to be looked at, once."""
    return groups.crossing(block)


def _card(scenario: Scenario, name: str, groups: Groups | Renumbered, rank: int) -> GroupCard:
    cluster = scenario.cluster
    return GroupCard(
        name,
        groups.size,
        groups.count,
        crossings(groups, cluster.gpus_per_node),
        crossings(groups, cluster.domain),
        groups.of(rank),
        not groups.crosses(rank, cluster.domain),
    )
