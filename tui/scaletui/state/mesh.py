"""A plan's mesh as facts: degrees, groups, and the nodes and NVLink domains that a group spans.

Ranks are numbered with tp running fastest, then cp, dp_shard, dp_replicate and pp: Megatron's default order
(tp-cp-ep-dp-pp) and torchtitan's mesh (pp, dp_replicate, dp_shard, cp, tp, row-major) agree on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.plan import Strategy

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario

ORDER: Final = ("tp", "cp", "dp_shard", "dp_replicate", "pp")
"""The axis that runs fastest first."""


@dataclass(frozen=True, slots=True)
class AxisFacts:
    """One axis of the mesh."""

    name: str
    degree: int
    stride: int
    """Ranks between neighbours of a group."""
    world: int
    gpus_per_node: int
    domain: int
    """GPUs of one NVLink domain."""

    @property
    def groups(self) -> int:
        """Groups of this axis in the whole cluster."""
        return self.world // self.degree

    def members(self, rank: int) -> range:
        """The ranks of the group that a rank is in."""
        first = rank - self.coordinate(rank) * self.stride
        return range(first, first + self.degree * self.stride, self.stride)

    def coordinate(self, rank: int) -> int:
        """The place of a rank on this axis."""
        return rank // self.stride % self.degree

    def nodes(self, rank: int) -> int:
        """Nodes that the group of a rank spans."""
        return len({member // self.gpus_per_node for member in self.members(rank)})

    def crosses(self, rank: int) -> bool:
        """Whether the group of a rank leaves its NVLink domain."""
        members = self.members(rank)
        return members[0] // self.domain != members[-1] // self.domain


@dataclass(frozen=True, slots=True)
class MeshLook:
    """The mesh, and the rank and axis that are looked at."""

    axes: tuple[AxisFacts, ...]
    shares: tuple[tuple[str, int], ...]
    """(part of the states, ranks that share it)."""
    link: str
    """Name of the link inside a domain."""
    place: int = 0
    """Index of the axis that is looked at."""
    rank: int = 0

    @property
    def axis(self) -> AxisFacts:
        """The axis that is looked at."""
        return self.axes[self.place]

    @property
    def world(self) -> int:
        """Ranks in all."""
        return self.axes[0].world

    @property
    def gpus_per_node(self) -> int:
        """GPUs of one node."""
        return self.axes[0].gpus_per_node

    @property
    def nodes(self) -> int:
        """Nodes in all, the last one perhaps not full."""
        return -(-self.world // self.gpus_per_node)

    def where(self, rank: int) -> str:
        """The coordinates of a rank: "tp 1, dp_shard 3"."""
        return ", ".join(f"{axis.name} {axis.coordinate(rank)}" for axis in self.axes)


def mesh_look(scenario: Scenario, axis: str = "", rank: int = 0) -> MeshLook:
    """The look at a valid scenario; an axis it lacks is its first, and the rank is brought into range."""
    axes, strategy = axes_of(scenario), scenario.plan.strategy
    shard = shard_ranks(scenario)
    sharded = (
        ("weights", strategy.shards_weights),
        ("gradients", strategy.shards_gradients),
        ("optimizer", strategy.shards_optimizer),
    )
    shares = tuple((part, shard if is_sharded else 1) for part, is_sharded in sharded)
    link = scenario.cluster.gpu.link or "nvlink"
    names = [each.name for each in axes]
    place = names.index(axis) if axis in names else 0
    return MeshLook(axes, shares, link, place, min(max(rank, 0), scenario.plan.axes.world - 1))


def shard_ranks(scenario: Scenario) -> int:
    """Ranks over which states are sharded: dp_shard x cp for FSDP, all of dp x cp for ZeRO, 1 for DDP."""
    axes, strategy = scenario.plan.axes, scenario.plan.strategy
    if not strategy.shards_optimizer:
        return 1
    whole = strategy in (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
    return (axes.dp if whole else axes.dp_shard) * axes.cp


def axes_of(scenario: Scenario) -> tuple[AxisFacts, ...]:
    """Every axis above 1, the fastest first; dp_shard alone where there is one rank."""
    cluster, axes = scenario.cluster, scenario.plan.axes
    found: list[AxisFacts] = []
    stride = 1
    for name in ORDER:
        degree = getattr(axes, name)
        found.append(AxisFacts(name, degree, stride, axes.world, cluster.gpus_per_node, cluster.domain))
        stride *= degree
    above = tuple(axis for axis in found if axis.degree > 1)
    return above or tuple(axis for axis in found if axis.name == "dp_shard")
