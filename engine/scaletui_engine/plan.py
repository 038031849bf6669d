"""How a model is trained on a cluster: mesh axes, batch, precision, optimizer, recompute, offload."""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.compat import StrEnum
from scaletui_engine.runtime import DEFAULT_RUNTIME, Framework, Lora, Runtime


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

    @property
    def shards_optimizer(self) -> bool:
        """Whether a rank holds a slice of the optimizer's state."""
        return self is not Strategy.DDP

    @property
    def shards_gradients(self) -> bool:
        """Whether a rank keeps a slice of the reduced gradients."""
        return self not in (Strategy.DDP, Strategy.ZERO1)

    @property
    def shards_weights(self) -> bool:
        """Whether a rank holds a slice of the weights and gathers them to compute."""
        return self in (Strategy.ZERO3, Strategy.FSDP1, Strategy.FSDP, Strategy.HSDP)


class Recompute(StrEnum):
    """Which activations are computed again in the backward pass."""

    NONE = "none"
    """Everything is kept."""
    SELECTIVE = "selective"
    """The attention core (Korthikanti et al., arXiv:2205.05198, section 5)."""
    FULL = "full"
    """Only the input of each layer is kept."""


class Offload(StrEnum):
    """What lives in host memory."""

    NONE = "none"
    """Nothing."""
    OPTIMIZER = "optimizer"
    """The optimizer's state and the master weights (ZeRO-Offload, arXiv:2101.06840)."""
    PARAMS = "params"
    """The optimizer's state, gradients and weights (FSDP's CPUOffloadPolicy, ZeRO-Infinity)."""


class Split(StrEnum):
    """How the layers are dealt to the pipeline stages."""

    EVEN = "even"
    """The same number for every stage; the stages must divide the layers."""
    FRONT = "front"
    """As even as can be, the remainder one each on the first stages (DeepSpeed's "uniform")."""
    ENDS = "ends"
    """Embedding and output count as a layer each, remainder first: the first and last stage get one
    layer less (torchtitan's weights of 1; Megatron-LM's account_for_{embedding,loss}_in_pipeline_split)."""


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

    @property
    def expert_dp(self) -> int:
        """Ranks that shard the same experts: dp_shard x cp x tp / ep (torchtitan's efsdp)."""
        return self.dp_shard * self.cp * self.tp // self.ep


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to train; `validate.py` says whether it can run."""

    axes: Axes
    strategy: Strategy = Strategy.FSDP
    precision: str = "bf16-mixed"
    """Id of a recipe in `precisions.py`."""
    optimizer: str = "adamw"
    """Id of an optimizer in `optimizers.py`."""
    recompute: Recompute = Recompute.NONE
    offload: Offload = Offload.NONE
    reshard_after_forward: bool = True
    """Free gathered weights after the forward pass, and gather them again for the backward pass."""
    sequence_parallel: bool = True
    """Megatron's SP beside TP: norms and residuals sharded along the sequence."""
    micro_batch: int = 1
    """Sequences of one microbatch of one data-parallel rank."""
    global_batch: int = 1
    """Sequences of one step, over all data-parallel ranks."""
    seq: int = 4096
    """Tokens of one sequence."""
    schedule: str = "1f1b"
    """Name of a pipeline schedule; nothing depends on it where pp is 1."""
    chunks: int = 1
    """Model chunks of a pipeline rank (virtual stages)."""
    layer_split: Split | tuple[int, ...] = Split.EVEN
    """A rule, or the layers of every stage in the order of the model."""
    frozen: tuple[str, ...] = ()
    """Roles or name prefixes whose tensors are not trained."""
    lora: Lora | None = None
    """Adapters on a frozen base; None trains the weights themselves."""
    runtime: Runtime = DEFAULT_RUNTIME
    """Switches of the framework that runs it."""

    @property
    def accumulation(self) -> int:
        """Microbatches a rank runs in one step."""
        return self.global_batch // (self.micro_batch * self.axes.dp)

    @property
    def framework(self) -> Framework:
        """Whose habits apply: the runtime's, else by strategy (zero1 is Megatron's distributed optimizer)."""
        if self.runtime.framework is not Framework.AUTO:
            return self.runtime.framework
        if self.strategy is Strategy.ZERO1:
            return Framework.MEGATRON
        return Framework.DEEPSPEED if self.strategy in (Strategy.ZERO2, Strategy.ZERO3) else Framework.TORCH

    @property
    def stages(self) -> int:
        """Pipeline stages that the model is cut into: ranks times chunks."""
        return self.axes.pp * self.chunks
