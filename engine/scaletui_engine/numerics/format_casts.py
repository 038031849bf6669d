"""Every number format on numpy ranks: a tensor cast piece by piece has the bits of the whole one cast.

Formats with a scale for a block are cut between blocks; NVFP4's scale of the whole tensor is the largest over
all ranks, so it is known only after an all-reduce.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.collectives.wire import Collective, sent_bytes
from scaletui_engine.numerics.block_formats import MX, MX_BLOCK, quantize_mx, quantize_nvfp4
from scaletui_engine.numerics.formats import FORMATS
from scaletui_engine.numerics.outcome import Outcome, compare
from scaletui_engine.numerics.wire_log import WireLog

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]

BLOCKS: Final = 3
"""Of a rank."""
_POWERS: Final = 16
"""Values from 2^-16 to 2^16: every 8-bit format rounds, underflows and overflows somewhere."""


def format_casts(ranks: int) -> Outcome:
    """Cast on the ranks, put together, compare with one device: equal bits, so the error is 0."""
    dice = np.random.default_rng(11)
    size = ranks * BLOCKS * MX_BLOCK
    whole = dice.normal(size=size) * 2.0 ** dice.integers(-_POWERS, _POWERS, size)
    pieces = np.split(whole, ranks)
    expected: list[Array] = []
    found: list[Array] = []
    for rule in FORMATS.values():
        expected.append(_finite(rule.cast(whole)))
        found.append(_finite(np.concatenate([rule.cast(piece) for piece in pieces])))
    for name in MX:
        expected.append(quantize_mx(whole, name).dequantized())
        found.append(np.concatenate([quantize_mx(piece, name).dequantized() for piece in pieces]))
    log = WireLog(ranks)
    log.record(Collective.ALL_REDUCE, 1)
    amax = max(float(np.max(np.abs(piece))) for piece in pieces)
    expected.append(quantize_nvfp4(whole).dequantized())
    found.append(np.concatenate([quantize_nvfp4(piece, amax).dequantized() for piece in pieces]))
    sent = sent_bytes(Collective.ALL_REDUCE, 1, ranks)
    return Outcome("formats", ranks, *compare(expected, found), (), log.sent, sent)


def _finite(values: Array) -> Array:
    """Infinities and what is no number as numbers beyond all values."""
    return np.nan_to_num(values, nan=-(2.0**24), posinf=2.0**25, neginf=-(2.0**25))
