"""Which weights Megatron holds as one matrix: a buffer aligns and cuts that, not its parts.

Source: Megatron-LM d98e8a6, core/transformer/attention.py (`linear_qkv`) and mlp.py (`linear_fc1`). Within a
block the parts are laid one behind the other; `linear_qkv` itself goes by groups of heads, which is the same
where a rank has one group or less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS: Final = {"wq": "qkv", "wk": "qkv", "wv": "qkv", "w1": "w13", "w3": "w13"}


def fused_name(name: str) -> str:
    """The name of the matrix, or bias, that a parameter is a part of; its own where it stands alone."""
    weight, bias = name.removesuffix(".bias"), ".bias" if name.endswith(".bias") else ""
    block, dot, last = weight.rpartition(".")
    return f"{block}{dot}{_PARTS.get(last, last)}{bias}"


def fused_blocks(names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Places of the parameters of each fused one, in the order in which their first part comes."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(fused_name(name), []).append(place)
    return tuple(map(tuple, found.values()))
