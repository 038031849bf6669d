"""What attention and feed-forward blocks share: the norm before them, the dropout after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.activations.saved import Saved, widths
from scaletui_engine.model import Norm
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load


def entry(load: Load, block: str, weights: tuple[str, ...]) -> tuple[Saved, ...]:
    """The norm before a block and the input of its first projections.

    Megatron keeps a column-parallel layer's slice and gathers it again in the backward pass; torch's DTensor
    keeps what it gathered.
    """
    width, hidden = widths(load), load.arch.hidden
    held = width.outer(hidden) if load.megatron else width.whole(hidden)
    module = "input" if block == "attention" else "norm"
    return (
        *norm(load, block, module),
        Saved(f"{block}.input", held, "layernorm", weights),
    )


def norm(load: Load, block: str, module: str = "norm") -> tuple[Saved, ...]:
    """A norm's input and its fp32 statistics: 1/rms a row, for LayerNorm the mean as well.

    Hugging Face's RMSNorm works on an fp32 copy of its input and keeps that and the scaled 16-bit copy.
    """
    arch, width = load.arch, widths(load)
    stream = width.outer(arch.hidden)
    rows = 2 if arch.norm is Norm.LAYERNORM else 1
    saved = (
        Saved(f"{block}.norm_input", stream, module),
        Saved(f"{block}.norm_statistics", width.rows(rows, load.sp), "norm"),
    )
    if load.hf and arch.norm is Norm.RMSNORM:
        return (*saved, Saved(f"{block}.norm_copies", stream * 4 // load.item, "norm"))
    return saved


def leave(load: Load, block: str, module: str) -> tuple[Saved, ...]:
    """Between a block and the residual stream: a norm after it (Gemma), the mask of a dropout."""
    arch = load.arch
    after = norm(load, f"{block}.after") if arch.norms_per_layer == 4 else ()
    if not load.plan.runtime.dropout:
        return after
    mask = ceil_div(load.tokens * arch.hidden, load.sp)
    return (*after, Saved(f"{block}.output_mask", mask, module))
