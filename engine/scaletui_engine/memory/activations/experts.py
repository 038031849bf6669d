"""What a mixture of experts keeps: router, permuted inputs, inner tensors, outputs, shared experts."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.common import entry, leave
from scaletui_engine.memory.activations.mlp import block, fused
from scaletui_engine.memory.activations.saved import Saved
from scaletui_engine.memory.widths import ROW_BYTES
from scaletui_engine.runtime import RouterWeights
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load
    from scaletui_engine.model import Moe


def experts(load: Load, moe: Moe) -> tuple[Saved, ...]:
    """The experts of one layer, balanced unless the plan says otherwise.

    Balanced routing brings each rank topk tokens for each of its own, whatever ep is.
    """
    shared = block(load, moe.shared * moe.shared_ffn, "shared_experts") if moe.shared else ()
    scores = ceil_div(load.tokens * moe.experts * ROW_BYTES, load.sp)
    return (
        *entry(load, "moe", ("router", "w1", "w3")),
        Saved("moe.router_scores", scores, "moe"),
        *_routed(load, moe),
        *shared,
        *leave(load, "moe", "moe"),
    )


def routed_rows(load: Load, moe: Moe) -> int:
    """Rows that the experts of a rank receive: topk copies of its tokens, by capacity and imbalance."""
    runtime = load.plan.runtime
    even = ceil_div(load.tokens * moe.topk * load.etp, load.tp)
    return ceil(even * runtime.capacity_factor * runtime.imbalance)


def _weighted(load: Load, moe: Moe) -> Saved:
    """What the gradient of the router's weights needs: what they multiply, or they alone beside it."""
    rows = routed_rows(load, moe)
    if load.plan.runtime.router_weights is RouterWeights.OUTPUT:
        return Saved("moe.expert_output", rows * load.item * load.arch.hidden, "moe")
    return Saved("moe.router_weights", rows * ROW_BYTES, "moe")


def _routed(load: Load, moe: Moe) -> tuple[Saved, ...]:
    row = routed_rows(load, moe) * load.item
    hidden, ffn = load.arch.hidden, ceil_div(moe.ffn, load.etp)
    entering = 2 if load.arch.gated else 1
    saved = (
        Saved("moe.permuted_input", row * hidden, "moe", ("w1", "w3")),
        Saved("moe.activation_input", row * entering * ffn, "moe"),
        Saved("moe.down_input", row * ffn, "moe_act", ("w2",)),
        _weighted(load, moe),
    )
    if load.arch.gated and not fused(load):
        return (*saved, Saved("moe.gate_output", row * ffn, "moe"))
    return saved
