"""The times and the memory of a scenario's pipeline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scaletui_engine.errors import ScenarioError
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.precisions import held_precision
from scaletui_engine.schedule.deltas import Deltas
from scaletui_engine.schedule.estimate.flops import stage_flops
from scaletui_engine.schedule.orders.request import Request
from scaletui_engine.schedule.shape import Shape
from scaletui_engine.schedule.times import Times
from scaletui_engine.stages import stage_layers

if TYPE_CHECKING:
    from scaletui_engine.cluster import Cluster, Gpu
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.plan import Plan
    from scaletui_engine.precision import Precision
    from scaletui_engine.scenario import Scenario

ACHIEVED: Final = 0.6
"""Of a GPU's peak in large matrix products. Fits on public tables give 0.43 (B200) to 0.68 (H100)."""

ASSUMPTIONS: Final = (
    "estimate.achieved_rate", "estimate.products_and_attention_only", "estimate.message_at_link_rate",
)  # fmt: skip
"""Message ids of what an estimate takes for granted."""

_RATES: Final = {1: ("fp8", "bf16"), 2: ("bf16", "fp16"), 4: ("tf32", "fp32")}
"""By bytes of a compute element: the first rate that the GPU has."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a schedule needs to know of a scenario; times in seconds."""

    request: Request
    deltas: Deltas
    """Bytes of activations of one microbatch and stage, kept until W."""
    weights: tuple[float, ...]
    """Bytes of the weights of each stage, one version, as its rank holds them."""
    assumptions: tuple[str, ...] = ASSUMPTIONS


def estimate(scenario: Scenario, achieved: float = ACHIEVED) -> Estimate:
    """Raises ScenarioError where a stage split or a rate is not to be had."""
    plan, arch = scenario.plan, scenario.model.arch
    rate = achieved * compute_rate(scenario.cluster.gpu, held_precision(plan))
    flops = [stage_flops(arch, plan, stage) for stage in stage_layers(arch.layers, plan)]
    times = Times(
        forward=tuple(stage.forward / rate for stage in flops),
        input_grad=tuple(stage.input_grad / rate for stage in flops),
        weight_grad=tuple(stage.weight_grad / rate for stage in flops),
        comm=message_times(scenario),
        estimated=True,
    )
    shape = Shape(plan.axes.pp, max(plan.accumulation, 1), plan.chunks)
    apart = _stages_apart(scenario)
    kept = tuple(float(stage.kept) for stage in apart)
    return Estimate(
        request=Request(plan.schedule, shape, times=times),
        deltas=Deltas(kept, (0.0,), tuple(-held for held in kept)),
        weights=tuple(float(stage.states.weights) for stage in apart),
    )


def compute_rate(gpu: Gpu, precision: Precision) -> float:
    """Peak FLOP/s of a recipe's compute dtype. Raises ScenarioError where the GPU's source gives none."""
    names = _RATES.get(precision.compute, ("bf16", "fp16"))
    found = next((rate for name in names if (rate := gpu.flops(name)) is not None), None)
    if found is None:
        raise ScenarioError(f"{gpu.id} has no published rate for {' or '.join(names)}")
    return found


def message_times(scenario: Scenario) -> tuple[float, ...]:
    """Seconds of the activation of one microbatch over every boundary between stages.

    Pipeline ranks lie world / pp GPUs apart (pp is the outermost axis); a boundary inside a scale-up
    domain takes its link, any other the network. Latency is not counted.
    """
    plan, cluster = scenario.plan, scenario.cluster
    size = _message_bytes(plan, scenario.model.arch.hidden)
    ranks = plan.axes.pp
    rates = [
        _link_rate(cluster, plan, stage % ranks, (stage + 1) % ranks) for stage in range(plan.stages - 1)
    ]
    return tuple(size / rate for rate in rates) or (0.0,)


def _message_bytes(plan: Plan, hidden: int) -> float:
    split = plan.axes.tp if plan.sequence_parallel else 1
    item = max(held_precision(plan).compute, 2)
    return plan.micro_batch * plan.seq / plan.axes.cp * hidden * item / split


def _link_rate(cluster: Cluster, plan: Plan, first: int, second: int) -> float:
    stride = plan.axes.world // plan.axes.pp
    if first * stride // cluster.domain == second * stride // cluster.domain:
        return cluster.gpu.nvlink_bandwidth
    if cluster.gpu.network_bandwidth is None:
        raise ScenarioError(f"{cluster.gpu.id} has no published network rate for messages between nodes")
    return cluster.gpu.network_bandwidth


def _stages_apart(scenario: Scenario) -> tuple[Contents, ...]:
    """The memory budget's own count, stage by stage: the same plan with every stage on a rank of its own."""
    plan = scenario.plan
    apart = replace(plan, axes=replace(plan.axes, pp=plan.stages), chunks=1, schedule="1f1b")
    return contents_of(load_of(scenario.model.arch, apart))
