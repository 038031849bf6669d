"""A feed-forward block: w1 in, w2 out, and w3 beside w1 where the block is gated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.model import Role, Tensor, TpRule
from scaletui_engine.tensors.linear import Linear

if TYPE_CHECKING:
    from scaletui_engine.model import Arch


@dataclass(frozen=True, slots=True)
class Block:
    """One kind of feed-forward block: where it lives and how wide it is."""

    name: str
    role: Role
    ffn: int
    layers: range
    experts: int = 1


def mlp(arch: Arch, block: Block) -> tuple[Tensor, ...]:
    """Weights (ffn, hidden) in and (hidden, ffn) out (SwiGLU: arXiv:2002.05202)."""
    parts = ("w1", "w3") if arch.gated else ("w1",)
    entering = tuple(
        tensor
        for part in parts
        for tensor in _linear(block, part, TpRule.COLUMN).tensors(block.ffn, arch.hidden, arch.mlp_bias)
    )
    leaving = _linear(block, "w2", TpRule.ROW).tensors(arch.hidden, block.ffn, arch.mlp_bias)
    return (*entering, *leaving)


def _linear(block: Block, part: str, tp: TpRule) -> Linear:
    return Linear(f"{block.name}.{part}", block.role, tp, block.layers, block.experts)
