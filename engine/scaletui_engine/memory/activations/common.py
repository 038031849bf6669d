"""What attention and feed-forward blocks share: the norm before them, the dropout after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui_engine.memory.activations.saved import Saved
from scaletui_engine.model import Norm
from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from scaletui_engine.memory.load import Load

FP32: Final = 4


def entry(load: Load, block: str, weights: tuple[str, ...]) -> tuple[Saved, ...]:
    """The norm before a block and the input of its first projections.

    Megatron keeps a column-parallel layer's slice and gathers it again in the backward pass; torch's DTensor
    keeps what it gathered.
    """
    width, hidden = load.widths, load.arch.hidden
    held = width.outer(hidden) if load.megatron else width.whole(hidden)
    module = "input" if block == "attention" else "norm"
    return (
        *norm(load, block, module),
        Saved(f"{block}.input", held, "layernorm", weights),
    )


def norm(load: Load, block: str, module: str = "norm") -> tuple[Saved, ...]:
    """A norm's input and fp32 statistics: 1/rms a row, the mean too for LayerNorm; copies if unfused."""
    arch, width = load.arch, load.widths
    stream = width.outer(arch.hidden)
    rows = 2 if arch.norm is Norm.LAYERNORM else 1
    saved = (
        Saved(f"{block}.norm_input", stream, module),
        Saved(f"{block}.norm_statistics", width.rows(rows, load.sp), "norm"),
    )
    copies = norm_copies(load)
    return (*saved, Saved(f"{block}.norm_copies", copies, "norm")) if copies else saved


def norm_copies(load: Load) -> int:
    """Bytes that an unfused RMSNorm keeps beyond its 16-bit input.

    torch's composite rms_norm keeps the fp32 input and the fp32 normed value, Hugging Face's layer the fp32
    input and the normed value in 16 bits; neither keeps the 16-bit input itself.
    """
    runtime = load.plan.runtime
    fused = not load.hf or runtime.compile if runtime.fused_norm is None else runtime.fused_norm
    if fused or load.arch.norm is not Norm.RMSNORM:
        return 0
    kept = FP32 + (load.item if load.hf else FP32) - load.item
    return ceil_div(load.tokens * load.arch.hidden * kept, load.sp)


def packed(elements: int, bits: int, load: Load) -> int:
    """Elements in few bits, with the fp32 scales of their tiles."""
    tile = load.plan.runtime.float8_tile
    scales = 0 if tile is None else FP32 * ceil_div(elements, tile)
    return ceil_div(elements * bits, 8) + scales


def leave(load: Load, block: str, module: str) -> tuple[Saved, ...]:
    """Between a block and the residual stream: a norm after it (Gemma), the mask of a dropout."""
    arch = load.arch
    after = norm(load, f"{block}.after") if arch.norms_per_layer == 4 else ()
    if not load.plan.runtime.dropout:
        return after
    mask = ceil_div(load.tokens * arch.hidden, load.sp)
    return (*after, Saved(f"{block}.output_mask", mask, module))
