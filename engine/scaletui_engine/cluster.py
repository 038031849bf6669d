"""GPUs, nodes, links and NVLink domains."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One accelerator model; bandwidths are bytes a second in one direction."""

    id: str
    name: str
    vendor: str
    memory_bytes: int
    """The marketed size; `catalog/gpus.py` says why a marketed GB is 2^30 bytes."""
    usable_bytes: int | None
    """What the driver reports in total, where a source gives it."""
    usable_source: str | None
    peak_flops: tuple[tuple[str, float], ...]
    """(dtype, dense FLOP/s), without sparsity."""
    memory_bandwidth: float
    nvlink_bandwidth: float
    """Scale-up link (NVLink, xGMI, ICI, or PCIe where there is nothing better), per GPU."""
    nvlink_domain: int
    """GPUs that reach each other over the scale-up link: not the same as the node."""
    network_bandwidth: float | None
    """Between nodes, per GPU; None where no source gives a usual network."""
    host_bandwidth: float | None
    """To the host's memory, per GPU; None where no source gives it."""
    link: str = ""
    """Name of the scale-up link."""
    source: tuple[str, ...] = ()
    note: str | None = None

    @property
    def capacity_bytes(self) -> int:
        """What a budget is held against: the driver's figure, else the nominal size."""
        return self.memory_bytes if self.usable_bytes is None else self.usable_bytes

    @property
    def capacity_is_nominal(self) -> bool:
        """True where the marketed size stands in for the driver's figure."""
        return self.usable_bytes is None

    def flops(self, dtype: str) -> float | None:
        """Dense FLOP/s of "bf16", "fp16", "fp8", "tf32", "fp32" ...; None where no source gives it."""
        return dict(self.peak_flops).get(dtype)


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

    @property
    def domain(self) -> int:
        """GPUs of one scale-up domain: the cluster's figure, else the GPU's, never more than there are."""
        own = self.gpu.nvlink_domain if self.nvlink_domain is None else self.nvlink_domain
        return min(own, self.gpus)
