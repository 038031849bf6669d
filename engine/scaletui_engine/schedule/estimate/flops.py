"""Floating-point operations of one pipeline stage for one microbatch, on one of its ranks.

Matrix products cost 2 x tokens x weights forward, as much for the input gradient and as much for the
weight gradient; attention has no weights, so its backward is all input gradient (Qi et al.,
arXiv:2401.10241, table 1). Norms, activations and the embedding look-up are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.census import is_trained
from scaletui_engine.model import Role
from scaletui_engine.plan import Recompute
from scaletui_engine.runtime import Attention
from scaletui_engine.tensors.stage import stage_tensors

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Tensor
    from scaletui_engine.plan import Plan
    from scaletui_engine.stages import Stage

FLASH_BACKWARD: Final = 2.5
"""Flash attention's backward over its forward: it computes the scores again (arXiv:2307.08691)."""
PLAIN_BACKWARD: Final = 2.0
_LOOKED_UP: Final = (Role.EMBEDDING, Role.POSITION, Role.NORM)


@dataclass(frozen=True, slots=True)
class StageFlops:
    """Of one microbatch on one rank."""

    forward: float
    input_grad: float
    """What is computed again (recompute) included."""
    weight_grad: float


def stage_flops(arch: Arch, plan: Plan, stage: Stage) -> StageFlops:
    """Products split evenly over tp, tokens over cp; experts are taken to be balanced."""
    tokens = plan.micro_batch * plan.seq / (plan.axes.cp * plan.axes.tp)
    multiplied = [tensor for tensor in stage_tensors(arch, (stage,)) if _multiplies(tensor)]
    products = 2 * tokens * (sum(_visited(tensor, arch) for tensor in multiplied) + _tied_output(arch, stage))
    trained = [tensor for tensor in multiplied if is_trained(tensor, plan.frozen)]
    weights = 2 * tokens * (sum(_visited(tensor, arch) for tensor in trained) + _tied_output(arch, stage))
    core = tokens * attention_core(arch, plan, stage)
    again = {Recompute.NONE: 0.0, Recompute.SELECTIVE: core, Recompute.FULL: products + core}[plan.recompute]
    backward = FLASH_BACKWARD if plan.runtime.attention is Attention.FLASH else PLAIN_BACKWARD
    return StageFlops(products + core, products + backward * core + again, 0.0 if plan.lora else weights)


def attention_core(arch: Arch, plan: Plan, stage: Stage) -> float:
    """Of one token through the stage's layers: scores and their product with the values, causal."""
    query, value = arch.head_dim, arch.head_dim
    if arch.mla is not None:
        query, value = arch.mla.qk_head_dim, arch.mla.v_head_dim
    slid = (arch.sliding_layers or arch.layers) / arch.layers * len(stage.layers)
    spans = slid * _span(plan.seq, arch.sliding_window) + (len(stage.layers) - slid) * _span(plan.seq, None)
    return 2 * arch.heads * (query + value) * spans


def _span(seq: int, window: int | None) -> float:
    """Keys that a query sees on average."""
    if window is None or window >= seq:
        return seq / 2
    return window * (1 - window / (2 * seq))


def _multiplies(tensor: Tensor) -> bool:
    return len(tensor.shape) == 2 and tensor.role not in _LOOKED_UP


def _visited(tensor: Tensor, arch: Arch) -> float:
    """Elements that one token multiplies with."""
    if not tensor.is_expert or arch.moe is None:
        return tensor.total
    return tensor.total * arch.moe.topk / arch.moe.experts


def _tied_output(arch: Arch, stage: Stage) -> int:
    """The output product where one stage holds the tied table for both ends."""
    return arch.vocab * arch.hidden if arch.tie and stage.embedding and stage.head else 0
