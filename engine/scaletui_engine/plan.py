"""How a model is trained on a cluster: mesh axes, batch, precision, optimizer, recompute, offload."""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.compat import StrEnum
from scaletui_engine.runtime import DEFAULT_RUNTIME, Lora, Runtime


class Strategy(StrEnum):
    """How the data-parallel ranks hold the model's states."""

    DDP = "ddp"
    """Everything replicated."""
    ZERO1 = "zero1"
    """Optimizer sharded."""
    ZERO2 = "zero2"
    """Optimizer and gradients sharded."""
    ZERO3 = "zero3"
    """Everything sharded, DeepSpeed's way."""
    FSDP1 = "fsdp1"
    """Everything sharded in flat parameters (FullyShardedDataParallel)."""
    FSDP = "fsdp"
    """Everything sharded parameter by parameter on dim 0 (FSDP2, fully_shard)."""
    HSDP = "hsdp"
    """FSDP2 inside dp_shard, replicated over dp_replicate."""


class Recompute(StrEnum):
    """Which activations are computed again in the backward pass."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


class Offload(StrEnum):
    """What lives in host memory."""

    NONE = "none"
    OPTIMIZER = "optimizer"
    PARAMS = "params"


@dataclass(frozen=True, slots=True)
class Axes:
    """Degrees of the mesh axes. ep runs inside dp_shard x cp x tp and does not multiply the world."""

    tp: int = 1
    cp: int = 1
    ep: int = 1
    pp: int = 1
    dp_replicate: int = 1
    dp_shard: int = 1

    @property
    def dp(self) -> int:
        """Data-parallel degree: replicas times shards."""
        return self.dp_replicate * self.dp_shard

    @property
    def world(self) -> int:
        """Ranks in all: tp x cp x pp x dp_replicate x dp_shard."""
        return self.tp * self.cp * self.pp * self.dp


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to train; `validate.py` says whether it can run."""

    axes: Axes
    strategy: Strategy = Strategy.FSDP
    precision: str = "bf16-mixed"
    """Id of a recipe in `precision.py`."""
    optimizer: str = "adamw"
    """Id of an optimizer in `optimizer.py`."""
    recompute: Recompute = Recompute.NONE
    offload: Offload = Offload.NONE
    reshard_after_forward: bool = True
    sequence_parallel: bool = True
    """Megatron's SP beside TP: norms and residuals sharded along the sequence."""
    micro_batch: int = 1
    global_batch: int = 1
    seq: int = 4096
    schedule: str = "1f1b"
    chunks: int = 1
    frozen: tuple[str, ...] = ()
    """Roles or name prefixes whose tensors are not trained."""
    lora: Lora | None = None
    runtime: Runtime = DEFAULT_RUNTIME

    @property
    def accumulation(self) -> int:
        """Microbatches a rank runs in one step."""
        return self.global_batch // (self.micro_batch * self.axes.dp)
