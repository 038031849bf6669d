"""The traffic table: every collective of a step with its group, its links, its bytes and its time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui_engine.collectives.cost import Algorithm, Wires, cost
from scaletui_engine.collectives.wire import Collective
from scaletui_engine.errors import ValueRangeError
from scaletui_engine.runtime import Framework
from scaletui_engine.sharding.brief import brief
from scaletui_engine.sharding.orders import Order, mesh_of, renumbered
from scaletui_engine.sharding.rank_card import crossings, expert_mesh, second_mesh
from scaletui_engine.sharding.renumbered import Renumbered, in_order
from scaletui_engine.sharding.traffic.call import Call
from scaletui_engine.sharding.traffic.data_rows import implemented_rows, paper_rows
from scaletui_engine.sharding.traffic.model_rows import model_rows
from scaletui_engine.sharding.traffic.step import Step, heaviest_stage, step_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.cluster import Cluster
    from scaletui_engine.scenario import Scenario
    from scaletui_engine.sharding.mesh import Groups

_AXES: Final = {
    "tp": ("tp",), "cp": ("cp",), "pp": ("pp",), "dp_replicate": ("dp_replicate",),
    "fsdp": ("dp_shard", "cp"), "dp_cp": ("dp_replicate", "dp_shard", "cp"), "embedding": ("pp",),
    "world": ("pp", "dp_replicate", "dp_shard", "cp", "tp"),
}  # fmt: skip
_EXPERT_AXES: Final = {
    "ep": ("ep",), "edp": ("efsdp",), "expert_replicate": ("dp_replicate",),
}  # fmt: skip
VERSIONS: Final = {
    Framework.TORCH: "torch 2.13",
    Framework.MEGATRON: "Megatron-LM d98e8a6",
    Framework.MEGATRON_LEGACY: "Megatron-LM d98e8a6",
    Framework.DEEPSPEED: "DeepSpeed 0.19",
    Framework.HF: "torch 2.13",
}
"""Whose habits the second column follows, at the version that was read or run."""
_SCALAR: Final = 4
_SUMMING_SWITCHES: Final = ("NVLink4", "NVLink5")
"""NVSwitches that add up in the switch (NVLS) came with Hopper."""
_BRIDGE: Final = 2
"""Two GPUs on a bridge have no switch."""


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """One kind of collective of one axis."""

    group: str
    """"tp", "fsdp", "dp_cp", "edp" ...: which ranks take part."""
    call: Call
    groups: int
    """Groups of that kind in the cluster."""
    leave_node: int
    """Those that leave their node."""
    leave_domain: int
    """Those that leave their NVLink domain."""
    seconds: float | None
    """One after the other, nothing overlapped; None where no source gives the network's bandwidth."""
    algorithm: Algorithm

    @property
    def network(self) -> bool:
        """Whether bytes of the row cross the network."""
        return self.leave_domain > 0


@dataclass(frozen=True, slots=True)
class Traffic:
    """One pipeline rank's step, counted twice."""

    stage_rank: int
    paper: tuple[TrafficRow, ...]
    implemented: tuple[TrafficRow, ...]
    framework: str
    """Whose implementation: "torch 2.13"."""


def traffic(scenario: Scenario, stage_rank: int | None = None, order: Order = Order.MEGATRON) -> Traffic:
    """The table of a pipeline rank, of the heaviest one where none is named. Raises ValueRangeError.

    The order says which ranks share a node, and so which links a group crosses.
    """
    pp = scenario.plan.axes.pp
    if stage_rank is None:
        stage_rank = heaviest_stage(scenario)
    elif not 0 <= stage_rank < pp:
        raise ValueRangeError(f"stage {brief(stage_rank)} is not in 0 <= stage < pp = {pp}")
    step = step_of(scenario, stage_rank)
    paper = (*paper_rows(step), *model_rows(step, implemented=False))
    implemented = (*implemented_rows(step), *model_rows(step, implemented=True), *_scalars(step))
    return Traffic(
        stage_rank,
        tuple(_row(step, group, call, order) for group, call in paper if call.ranks > 1),
        tuple(_row(step, group, call, order) for group, call in implemented if call.ranks > 1),
        VERSIONS[scenario.plan.framework],
    )


def _scalars(step: Step) -> Iterator[tuple[str, Call]]:
    """The gradient norm over all ranks, and the loss over those that have one."""
    axes = step.scenario.plan.axes
    yield "world", Call(Collective.ALL_REDUCE, _SCALAR, axes.world, 1, "gradient_norm")
    if step.head:
        yield "dp_cp", Call(Collective.ALL_REDUCE, _SCALAR, axes.dp * axes.cp, 1, "loss_value")


def groups_named(scenario: Scenario, group: str, order: Order = Order.MEGATRON) -> Groups | Renumbered:
    """The groups of an axis, or of several taken together, in an order of ranks."""
    axes = scenario.plan.axes
    if group in _EXPERT_AXES:
        return in_order(expert_mesh(scenario).groups(*_EXPERT_AXES[group]), axes, order)
    if group == "hpz":
        return in_order(second_mesh(scenario).groups("hpz"), axes, order)
    return mesh_of(axes, order).groups(*_AXES[group])


def _row(step: Step, group: str, call: Call, order: Order) -> TrafficRow:
    scenario = step.scenario
    count, node, domain, per_domain = _place(scenario, group, step.stage_rank, order)
    seconds, algorithm = _time(call, per_domain, scenario.cluster)
    return TrafficRow(group, call, count, node, domain, seconds, algorithm)


@lru_cache(maxsize=1024)
def _place(scenario: Scenario, group: str, stage_rank: int, order: Order) -> tuple[int, int, int, int]:
    """(groups, those that leave a node, those that leave a domain, ranks of one inside one domain)."""
    groups, cluster, axes = groups_named(scenario, group, order), scenario.cluster, scenario.plan.axes
    per_stage = axes.world // axes.pp
    if groups.size == axes.world:
        inside = min(groups.size, cluster.domain)
    else:
        first = renumbered(axes, stage_rank * per_stage, (Order.MEGATRON, order))
        inside = max(Counter(rank // cluster.domain for rank in groups.of(first)).values())
    counted = crossings(groups, cluster.gpus_per_node), crossings(groups, cluster.domain)
    return groups.count, *counted, inside


def _time(call: Call, per_domain: int, cluster: Cluster) -> tuple[float | None, Algorithm]:
    """Seconds of all the call's collectives, one after the other."""
    gpu = cluster.gpu
    if per_domain < call.ranks and gpu.network_bandwidth is None:
        return None, Algorithm.RING
    wires = Wires(
        call.ranks,
        min(per_domain, call.ranks),
        gpu.nvlink_bandwidth,
        gpu.network_bandwidth or gpu.nvlink_bandwidth,
        gpu.link.startswith(_SUMMING_SWITCHES) and cluster.domain > _BRIDGE,
    )
    each = cost(call.op, call.payload // call.messages, wires)
    return each.seconds * call.collectives, each.algorithm
