"""The MLP of a layer, or the experts in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.model import Role
from scaletui_engine.tensors.experts import experts
from scaletui_engine.tensors.mlp import Block, mlp

if TYPE_CHECKING:
    from scaletui_engine.model import Arch, Tensor


def feed_forward(arch: Arch) -> tuple[Tensor, ...]:
    """The MLP of the dense layers, then router and experts of the others."""
    dense = tuple(
        tensor
        for layers in dense_layers(arch)
        for tensor in mlp(arch, Block("layers.{layer}.feed_forward", Role.MLP, arch.ffn, layers))
    )
    return dense if arch.moe is None else (*dense, *experts(arch, arch.moe))


def dense_layers(arch: Arch) -> tuple[range, ...]:
    """The layers without experts, as ranges: the leading ones, then those between expert layers."""
    if arch.moe is None:
        return (range(arch.layers),)
    first, every = arch.moe.first_dense, arch.moe.every
    between = (range(first + offset, arch.layers, every) for offset in range(every - 1))
    return tuple(layers for layers in (range(min(first, arch.layers)), *between) if len(layers))
