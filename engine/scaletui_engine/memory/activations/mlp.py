"""What a dense MLP keeps, gated or not, fused or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.common import entry, leave
from scaletui_engine.memory.activations.saved import Saved

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load


def mlp(load: Load) -> tuple[Saved, ...]:
    """The MLP of one dense layer; a layer with one norm (Phi-2) feeds it what attention gets."""
    own = entry(load, "mlp", ("w1", "w3")) if load.arch.norms_per_layer > 1 else ()
    return (*own, *block(load, load.arch.ffn, "mlp"), *leave(load, "mlp", "mlp"))


def block(load: Load, ffn: int, module: str) -> tuple[Saved, ...]:
    """Inner tensors of a feed-forward block: what the activation and the second projection need again."""
    width, gated = load.widths, load.arch.gated
    saved = (
        Saved(f"{module}.activation_input", width.inner((2 if gated else 1) * ffn), module),
        Saved(f"{module}.down_input", width.inner(ffn), module, ("w2",)),
    )
    if gated and not fused(load):
        return (*saved, Saved(f"{module}.gate_output", width.inner(ffn), module))
    return saved


def fused(load: Load) -> bool:
    """Whether gate and product run in one kernel, which computes the gate's output again."""
    switch = load.plan.runtime.fused_mlp
    return (load.megatron or load.plan.runtime.compile) if switch is None else switch
