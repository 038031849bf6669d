"""What a dense MLP keeps, gated or not, fused or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.attention import after, linear_input, norm_statistics
from scaletui_engine.memory.activations.saved import Saved, widths

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load


def mlp(load: Load) -> tuple[Saved, ...]:
    """The MLP of one dense layer."""
    arch = load.arch
    own_norm = arch.norms_per_layer > 1
    entry = (
        Saved("mlp.norm_input", widths(load).outer(arch.hidden), "mlp_input"),
        *norm_statistics(load, "mlp.norm_statistics"),
        linear_input(load, "mlp.input"),
    )
    return (
        *(entry if own_norm else ()),
        *block(load, arch.ffn, "mlp"),
        *after(load, "mlp"),
    )


def block(load: Load, ffn: int, module: str) -> tuple[Saved, ...]:
    """Inner tensors of a feed-forward block: what the activation and the second projection need again."""
    width = widths(load)
    entering = 2 if load.arch.gated else 1
    saved = (
        Saved(f"{module}.activation_input", width.inner(entering * ffn), module),
        Saved(f"{module}.down_input", width.inner(ffn), f"{module}_act"),
    )
    if load.arch.gated and not fused(load):
        return (*saved, Saved(f"{module}.gate_output", width.inner(ffn), module))
    return saved


def fused(load: Load) -> bool:
    """Whether gate and product run in one kernel, which computes the gate's output again."""
    switch = load.plan.runtime.fused_mlp
    return (load.megatron or load.plan.runtime.compile) if switch is None else switch
