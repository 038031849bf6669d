"""Features a token turned into bytes on one rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.units import ceil_div

ROW_BYTES: Final = 4
"""Bytes of one fp32 statistic a row: a norm's 1/rms, attention's log-sum-exp."""


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
