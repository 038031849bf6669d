"""Where a rank stands: its coordinate under every convention, its node, its groups and their links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.memory.load import load_of
from scaletui_engine.sharding.mesh import Axis, Groups, Mesh
from scaletui_engine.sharding.orders import Order, framework_coordinate, mesh_of

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


def groups_of(scenario: Scenario, order: Order = Order.MEGATRON) -> tuple[tuple[str, Groups], ...]:
    """Every group that a framework makes of more than one rank: the axes, and the axes taken together."""
    mesh, axes = mesh_of(scenario.plan.axes, order), scenario.plan.axes
    named = [(name, mesh.groups(name)) for name in ("tp", "cp", "pp", "dp_shard", "dp_replicate")]
    together = (("dp", ("dp_replicate", "dp_shard")), ("fsdp", ("dp_shard", "cp")))
    named += [(name, mesh.groups(*parts)) for name, parts in together if min(map(mesh.size, parts)) > 1]
    if axes.cp > 1 and axes.dp_replicate > 1:
        named.append(("dp_cp", mesh.groups("dp_replicate", "dp_shard", "cp")))
    if axes.ep > 1:
        experts = expert_mesh(scenario)
        named += [("ep", experts.groups("ep")), ("edp", experts.groups("efsdp"))]
        named.append(("etp", experts.groups("etp")))
    return tuple((name, groups) for name, groups in named if groups.size > 1)


def expert_mesh(scenario: Scenario) -> Mesh:
    """The second mesh, of experts, in the order of both: (pp, dp_replicate, efsdp, ep, etp)."""
    axes, etp = scenario.plan.axes, load_of(scenario.model.arch, scenario.plan).etp
    shards, rest = divmod(axes.dp_shard * axes.cp * axes.tp, axes.ep * etp)
    replicas = axes.dp_replicate
    if rest or not shards:
        replicas, shards = 1, axes.dp * axes.cp * axes.tp // (axes.ep * etp)
    names = (("pp", axes.pp), ("dp_replicate", replicas), ("efsdp", shards), ("ep", axes.ep), ("etp", etp))
    return Mesh(tuple(Axis(name, size) for name, size in names))


def _card(scenario: Scenario, name: str, groups: Groups, rank: int) -> GroupCard:
    cluster = scenario.cluster
    return GroupCard(
        name,
        groups.size,
        groups.count,
        groups.crossing(cluster.gpus_per_node),
        groups.crossing(cluster.domain),
        groups.of(rank),
        not groups.crosses(rank, cluster.domain),
    )
