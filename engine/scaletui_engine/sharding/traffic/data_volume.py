"""What data parallelism sends for `params` parameters: the papers' volume, and the implementations'.

Sources: ZeRO, arXiv:1910.02054, section 7 (2 Psi for ZeRO-1 and 2, 3 Psi for ZeRO-3); DeepSpeed #5758, #7059
(`reduce_scatter: true` still all-reduces) and #2252 (stage 2 reduces every microbatch); torch 2.13
MixedPrecisionPolicy (fp32 reduce-scatter beside bf16 all-gathers).
"""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.collectives.wire import Collective
from scaletui_engine.sharding.traffic.call import Call
from scaletui_engine.units import ceil_div

_AR, _AG, _RS = Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER


@dataclass(frozen=True, slots=True)
class Volume:
    """A model of `params` parameters on data-parallel ranks."""

    params: int
    param_bytes: int
    """Bytes a gathered parameter."""
    reduce_bytes: int
    """Bytes a reduced gradient."""
    shards: int
    replicas: int = 1
    microbatches: int = 1
    secondary: int = 0
    """Ranks that share a second copy of the weights (ZeRO++ hpZ); 0 for none."""

    @property
    def weights(self) -> int:
        """Bytes of all parameters as they are gathered."""
        return self.params * self.param_bytes

    @property
    def gradients(self) -> int:
        """Bytes of all gradients as they are reduced."""
        return self.params * self.reduce_bytes


def ddp(volume: Volume) -> tuple[Call, ...]:
    """One all-reduce of the gradients a step (no_sync between microbatches)."""
    return (Call(_AR, volume.gradients, volume.shards * volume.replicas, 1, "gradients"),)


def zero1(volume: Volume) -> tuple[Call, ...]:
    """Reduce-scatter of the gradients and all-gather of the parameters, once a step."""
    return (
        Call(_RS, volume.gradients, volume.shards, 1, "gradients"),
        Call(_AG, volume.weights, volume.shards, 1, "weights"),
    )


def zero2(volume: Volume) -> tuple[Call, ...]:
    """As ZeRO-1, but gradients are reduced after every microbatch: only a slice is kept."""
    return (
        Call(_RS, volume.gradients, volume.shards, volume.microbatches, "gradients"),
        Call(_AG, volume.weights, volume.shards, 1, "weights"),
    )


def deepspeed_zero(volume: Volume, stage: int) -> tuple[Call, ...]:
    """ZeRO-1 and 2 as DeepSpeed sends them by default: buckets are all-reduced, in stage 2 every time."""
    times = volume.microbatches if stage == 2 else 1
    return (
        Call(_AR, volume.gradients, volume.shards, times, "gradients"),
        Call(_AG, volume.weights, volume.shards, 1, "weights"),
    )


def zero3(volume: Volume) -> tuple[Call, ...]:
    """Two all-gathers and one reduce-scatter for every microbatch; FSDP is the same.

    ZeRO++ (arXiv:2306.10209, section 3.2) gathers for the backward pass from the second copy.
    """
    again = volume.secondary or volume.shards
    return (
        Call(_AG, volume.weights, volume.shards, volume.microbatches, "weights_forward"),
        Call(_AG, volume.weights, again, volume.microbatches, "weights_backward"),
        Call(_RS, volume.gradients, volume.shards, volume.microbatches, "gradients"),
    )


def replicated(volume: Volume) -> tuple[Call, ...]:
    """HSDP's all-reduce over replicas: of the slice that the reduce-scatter left."""
    part = ceil_div(volume.gradients, volume.shards)
    return (Call(_AR, part, volume.replicas, volume.microbatches, "gradient_shards"),)
