"""Host memory of one node: what is offloaded, what is pinned, what loading takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.budget import ByteRange
from scaletui_engine.memory.contents import contents_of
from scaletui_engine.memory.load import load_of
from scaletui_engine.plan import Offload
from scaletui_engine.runtime import Framework
from scaletui_engine.tensors import count_parameters
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.scenario import Scenario

FP32: Final = 4
OBSERVED_OVER_IDEAL: Final = (28, 16)
"""ZeRO-3 with the optimizer on the host: 16 bytes a parameter by the paper, about 28 seen in a job

(deepspeedai/DeepSpeed issue #7693: 10 after initialisation, 8 with the optimizer, 4 more and buffers).
"""
NVME_BUFFERS: Final = 5
NVME_BUFFER_ELEMENTS: Final = 100_000_000
"""DeepSpeed's `offload_param` to NVMe stages through 5 pinned buffers of 1e8 elements (its defaults)."""


@dataclass(frozen=True, slots=True)
class HostBudget:
    """One node's host memory, beside what the operating system and the data loader take."""

    states: ByteRange
    """Offloaded weights, gradients and optimizer: by the paper, and as seen in a job."""
    pinned: int
    """Staging copies that the driver must not page."""
    activations: int
    """Activations offloaded from the GPUs."""
    nvme: int
    """What goes on to the node's drives instead of staying in memory."""
    capacity: int | None

    @property
    def low(self) -> int:
        """The least that the job needs."""
        return self.states.low + self.pinned + self.activations

    @property
    def high(self) -> int:
        """What a job of the kind was seen to need."""
        return self.states.high + self.pinned + self.activations

    @property
    def fits(self) -> bool | None:
        """Whether the high end stays within the node's memory; None where nobody says how much that is."""
        return None if self.capacity is None else self.high <= self.capacity


@dataclass(frozen=True, slots=True)
class LoadingNeeds:
    """Host memory of one node while a checkpoint is read."""

    every_rank: int
    """Each rank reads the whole model."""
    first_rank: int
    """One rank reads it and the others receive their part (`cpu_ram_efficient_loading`)."""
    sharded: int
    """Each rank reads its own part (distributed checkpoints)."""


def host_budget(scenario: Scenario) -> HostBudget:
    """Host memory of the fullest node."""
    plan, cluster = scenario.plan, scenario.cluster
    ranks = contents_of(load_of(scenario.model.arch, plan))
    local = min(cluster.gpus_per_node, cluster.gpus)
    ideal = max(_states(contents) for contents in ranks) * local
    nvme = ideal if plan.runtime.nvme else 0
    pinned = max(_pinned(contents) for contents in ranks) * local
    activations = max(_activations(contents) for contents in ranks) * local
    return HostBudget(
        _range(ideal - nvme, plan.framework), pinned, activations, nvme, cluster.host_memory_bytes
    )


def loading_needs(scenario: Scenario, item: int = FP32) -> LoadingNeeds:
    """What reading a checkpoint of `item` bytes an element takes on one node's host."""
    size = count_parameters(scenario.model.arch).total * item
    local = min(scenario.cluster.gpus_per_node, scenario.cluster.gpus)
    return LoadingNeeds(size * local, size, ceil_div(size * local, scenario.cluster.gpus))


def _range(ideal: int, framework: Framework) -> ByteRange:
    if framework is not Framework.DEEPSPEED:
        return ByteRange(ideal, ideal, "host.states")
    seen, paper = OBSERVED_OVER_IDEAL
    return ByteRange(ideal, ideal * seen // paper, "host.states_observed")


def _states(contents: Contents) -> int:
    """ZeRO-Offload keeps optimizer, master weights and fp32 gradients; with parameters, weights as well."""
    plan, held = contents.load.plan, contents.states
    if plan.offload is Offload.NONE:
        return 0
    optimizer = held.optimizer + held.master_weights
    if plan.framework is Framework.DEEPSPEED:
        optimizer += held.master_weights
        return optimizer + (held.weights if plan.offload is Offload.PARAMS else 0)
    if plan.offload is Offload.OPTIMIZER:
        return optimizer + held.gradients
    return optimizer + held.gradients + held.weights


def _pinned(contents: Contents) -> int:
    """A 16-bit copy of offloaded weights goes through pinned memory, as does the gradient that comes back."""
    plan, load = contents.load.plan, contents.load
    if plan.offload is Offload.NONE:
        return 0
    if plan.runtime.nvme:
        return NVME_BUFFERS * NVME_BUFFER_ELEMENTS * load.precision.compute
    share = contents.states.weights // max(load.precision.weights, 1)
    return share * load.precision.compute


def _activations(contents: Contents) -> int:
    flight = contents.in_flight
    return ceil_div(contents.offloaded * flight.numerator, flight.denominator)
