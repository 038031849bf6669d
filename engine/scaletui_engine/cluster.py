"""GPUs, nodes, links and NVLink domains."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One accelerator model; bandwidths are bytes a second in one direction."""

    id: str
    name: str
    memory_bytes: int
    """The marketed size, a power-of-two size where that is what the maker means."""
    usable_bytes: int | None
    """What the driver reports in total, where a source gives it."""
    usable_source: str | None
    peak_flops: dict[str, float]
    """Dense FLOP/s by dtype name."""
    memory_bandwidth: float
    nvlink_bandwidth: float
    """Scale-up link, per GPU."""
    nvlink_domain: int
    """GPUs that reach each other over the scale-up link: not the same as the node."""
    network_bandwidth: float
    """Between nodes, per GPU."""
    host_bandwidth: float
    """To the host's memory, per GPU."""
    source: tuple[str, ...]

    @property
    def capacity_bytes(self) -> int:
        """What a budget is held against: the driver's figure, else the nominal size."""
        return self.memory_bytes if self.usable_bytes is None else self.usable_bytes


@dataclass(frozen=True, slots=True)
class Cluster:
    """`gpus` equal GPUs in nodes of `gpus_per_node`."""

    gpu: Gpu
    gpus: int
    gpus_per_node: int = 8
    nvlink_domain: int | None = None
    """GPUs of one scale-up domain; None takes the GPU's own."""
    host_memory_bytes: int | None = None
    """Of one node."""

    @property
    def nodes(self) -> int:
        """Nodes, the last one perhaps not full."""
        return -(-self.gpus // self.gpus_per_node)
