"""What one rank has to run: the scenario's numbers divided by the axes, its switches resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.widths import Widths
from scaletui_engine.plan import Strategy
from scaletui_engine.precisions import held_precision
from scaletui_engine.runtime import Framework
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.model import Arch
    from scaletui_engine.plan import Plan
    from scaletui_engine.precision import Precision

MEGATRON_VOCAB_MULTIPLE: Final = 128
"""Megatron pads the vocabulary to this times tp (its `make-vocab-size-divisible-by`)."""

MEGATRON: Final = (Framework.MEGATRON, Framework.MEGATRON_LEGACY)


@dataclass(frozen=True, slots=True)
class Load:
    """One microbatch on one rank, before pipeline stages are told apart."""

    arch: Arch
    plan: Plan
    precision: Precision
    framework: Framework
    tokens: int
    """Tokens of one microbatch on the rank: micro_batch x seq / cp."""
    tp: int
    sp: int
    """What divides the tensors outside the TP regions: tp with sequence parallelism, else 1."""
    etp: int
    """Tensor parallelism inside the experts."""
    vocab: int
    """Rows of the vocabulary tables, padded as the framework pads them, before tp."""
    shard: int
    """Ranks over which dense states are sharded."""
    expert_shard: int
    """Ranks over which an expert's states are sharded."""
    item: int
    """Bytes of an activation element: 8-bit recipes still keep 16 bits between their products."""
    widths: Widths
    """What a feature a token takes, by where a tensor lies."""

    @property
    def megatron(self) -> bool:
        """Whether Megatron's habits apply."""
        return self.framework in MEGATRON

    @property
    def eight_bit_inputs(self) -> bool:
        """Whether linear layers keep what they quantized: Transformer Engine's do, torchao's keep 16 bits."""
        eight_bits = self.plan.runtime.float8 or self.precision.compute == 1
        return eight_bits and self.framework is Framework.MEGATRON

    @property
    def torch_pipeline(self) -> bool:
        """Whether torch.distributed.pipelining runs the stages.

        It reduces, and frees weights that stay, after the last microbatch (stage.py,
        `backward_maybe_with_nosync`). Under FSDP Megatron does both every time: its wrapper of FSDP2 has a
        `no_sync` that does nothing (core/distributed/data_parallel_base.py), its own FSDP reduces sharded
        gradients after every microbatch (megatron_fsdp.py).
        """
        return self.plan.axes.pp > 1 and self.framework in (Framework.TORCH, Framework.HF)

    @property
    def hf(self) -> bool:
        """Whether the layers are Hugging Face's."""
        return self.framework in (Framework.HF, Framework.DEEPSPEED)


def load_of(arch: Arch, plan: Plan) -> Load:
    """Divide a microbatch and the states by the axes of a plan."""
    axes, runtime = plan.axes, plan.runtime
    framework, precision = plan.framework, held_precision(plan)
    etp, shard = expert_tp(plan, framework), _shard_degree(plan)
    tokens, item = ceil_div(plan.micro_batch * plan.seq, axes.cp), max(precision.compute, 2)
    sp = axes.tp if plan.sequence_parallel else 1
    return Load(
        arch=arch,
        plan=plan,
        precision=precision,
        framework=framework,
        tokens=tokens,
        tp=axes.tp,
        sp=sp,
        etp=etp,
        vocab=_padded_vocab(arch, axes.tp, runtime.vocab_multiple, framework),
        shard=shard,
        expert_shard=max(shard * axes.tp // (axes.ep * etp), 1),
        item=item,
        widths=Widths(tokens, item, sp, axes.tp),
    )


def _shard_degree(plan: Plan) -> int:
    """FSDP shards over dp_shard x cp (torchtitan, Megatron); ZeRO over the whole data-parallel group x cp."""
    axes = plan.axes
    if not plan.strategy.shards_optimizer:
        return 1
    whole = plan.strategy in (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
    return (axes.dp if whole else axes.dp_shard) * axes.cp


def expert_tp(plan: Plan, framework: Framework) -> int:
    """Megatron's experts keep tp while ep fits into dp x cp; torchtitan's ep takes tp's ranks for itself."""
    axes = plan.axes
    if plan.runtime.etp is not None:
        return plan.runtime.etp
    if axes.ep == 1 or (framework in MEGATRON and axes.dp * axes.cp % axes.ep == 0):
        return axes.tp
    return 1


def _padded_vocab(arch: Arch, tp: int, multiple: int | None, framework: Framework) -> int:
    step = multiple
    if step is None:
        step = MEGATRON_VOCAB_MULTIPLE * tp if framework in MEGATRON else tp
    return ceil_div(arch.vocab, step) * step
