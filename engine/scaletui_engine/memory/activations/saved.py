"""One tensor that the forward pass keeps for the backward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui_engine.units import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui_engine.memory.load import Load

ROW_BYTES: Final = 4
"""Bytes of one fp32 statistic a row: a norm's 1/rms, attention's log-sum-exp."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Bytes that one layer keeps of one microbatch."""

    name: str
    """Message id: "attention.norm_input"."""
    bytes: int
    module: str
    """What a recompute policy must name to drop it: "input", "norm", "core_attn", "mlp_act"."""
    weights: tuple[str, ...] = ()
    """Last names of the weights whose gradients need it; kept for its own sake when empty."""


@dataclass(frozen=True, slots=True)
class Widths:
    """Turns features a token into bytes, by where a tensor lies."""

    tokens: int
    item: int
    sp: int
    tp: int

    def outer(self, features: int) -> int:
        """A tensor of the residual stream, cut along the sequence with sequence parallelism."""
        return ceil_div(self.tokens * features * self.item, self.sp)

    def whole(self, features: int) -> int:
        """A tensor that every rank of the TP group holds in full."""
        return self.tokens * features * self.item

    def inner(self, features: int) -> int:
        """A tensor cut by heads or by inner features."""
        return ceil_div(self.tokens * features * self.item, self.tp)

    def rows(self, count: int, divide: int) -> int:
        """`count` fp32 statistics a token."""
        return ceil_div(self.tokens * count * ROW_BYTES, divide)


def widths(load: Load) -> Widths:
    """The widths of one microbatch of this load."""
    return Widths(load.tokens, load.item, load.sp, load.tp)


def total(saved: Iterable[Saved]) -> int:
    """Bytes of all of them."""
    return sum(tensor.bytes for tensor in saved)
