"""Formats whose elements share a scale: OCP microscaling (MX) and NVFP4.

Sources: OCP Microscaling Formats v1.0, section 6.3 (scale 2^(floor(log2 amax) - emax), elements saturate);
NVIDIA's NVFP4 recipe (a fp32 scale a tensor, an E4M3 scale for 16 elements).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.errors import DivisibilityError, UnknownNameError
from scaletui_engine.numerics.formats import Format, Overflow, number_format

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

MX: Final = {
    "mxfp8_e4m3": ("float8_e4m3fn", 8),
    "mxfp8_e5m2": ("float8_e5m2", 15),
    "mxfp6_e3m2": ("float6_e3m2fn", 4),
    "mxfp6_e2m3": ("float6_e2m3fn", 2),
    "mxfp4": ("float4_e2m1fn", 2),
}
"""Name -> (element, exponent of its largest value)."""
MX_BLOCK: Final = 32
NV_BLOCK: Final = 16


@dataclass(frozen=True, slots=True)
class Quantized:
    """A tensor in blocks."""

    values: NDArray[float64]
    """Elements as stored, before the scale."""
    scales: NDArray[float64]
    """One a block."""
    tensor_scale: float
    bits_per_element: float

    def dequantized(self) -> NDArray[float64]:
        """What a product sees."""
        each = len(self.values) // max(len(self.scales), 1)
        return self.values * np.repeat(self.scales, each) * self.tensor_scale


def quantize_mx(values: ArrayLike, name: str) -> Quantized:
    """Blocks of 32 with a power of two each. Raises UnknownNameError and DivisibilityError."""
    if name not in MX:
        raise UnknownNameError("block format", name, MX)
    element, largest = MX[name]
    rule, scale = number_format(element), number_format("float8_e8m0fnu")
    blocks = _blocks(values, MX_BLOCK)
    scales = np.array([_mx_scale(block, largest, scale) for block in blocks])
    stored = rule.cast(blocks / scales[:, None], Overflow.SATURATE)
    return Quantized(stored.reshape(-1), scales, 1.0, rule.bits + scale.bits / MX_BLOCK)


def _mx_scale(block: NDArray[float64], largest: int, scale: Format) -> float:
    amax = float(np.max(np.abs(block)))
    if amax == 0:
        return scale.min_normal
    power = int(np.frexp(amax)[1]) - 1 - largest
    return float(2.0 ** min(max(power, -scale.bias), scale.bias))


def quantize_nvfp4(values: ArrayLike, largest: float | None = None) -> Quantized:
    """s_tensor = amax / (6 x 448); s_block = e4m3(amax_block / 6 / s_tensor). Raises DivisibilityError.

    `largest` is the amax of a tensor of which these are a piece.
    """
    element, scale = number_format("float4_e2m1fn"), number_format("float8_e4m3fn")
    blocks = _blocks(values, NV_BLOCK)
    amax = float(np.max(np.abs(blocks), initial=0.0)) if largest is None else largest
    tensor = amax / (element.max * scale.max) if amax else 1.0
    scales = scale.cast(np.max(np.abs(blocks), axis=1) / element.max / tensor, Overflow.SATURATE)
    whole = scales[:, None] * tensor
    safe = np.where(whole == 0, 1.0, whole)
    # A kernel divides in float32, which decides some ties.
    quotient = (blocks / safe).astype(np.float32)
    stored = element.cast(np.where(whole == 0, 0.0, quotient), Overflow.SATURATE)
    return Quantized(stored.reshape(-1), scales, tensor, element.bits + scale.bits / NV_BLOCK)


def _blocks(values: ArrayLike, size: int) -> NDArray[float64]:
    flat = np.asarray(values, dtype=np.float64).reshape(-1)
    if len(flat) % size or not len(flat):
        raise DivisibilityError(f"{len(flat)} elements / block {size} = {len(flat) / size:.4g}, not whole")
    return flat.reshape(-1, size)
