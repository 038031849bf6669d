"""Number formats as rules: what a value becomes in 4 to 32 bits, and the bits that store it.

Sources: IEEE 754; OCP 8-bit Floating Point and Microscaling Formats specifications v1.0; ml_dtypes 0.6 (the
fnuz and e3m4 formats); torch saturates E4M3 since 2.12 (pytorch PR 178817), ml_dtypes gives NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import UnknownNameError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray


class Overflow(StrEnum):
    """What becomes of a value beyond the largest one."""

    INF = "inf"
    NAN = "nan"
    SATURATE = "saturate"


class Specials(StrEnum):
    """Which codes are no finite numbers."""

    IEEE = "ieee"
    """The top exponent holds infinities and NaNs."""
    FN = "fn"
    """One NaN code for each sign, no infinities."""
    FNUZ = "fnuz"
    """Minus zero's code is the only NaN; no infinities, no minus zero."""
    NONE = "none"
    """Every code is a finite number."""
    SCALE = "scale"
    """E8M0: powers of two without sign or zero, the last code is NaN."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: sign, exponent and mantissa bits and a bias."""

    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: Specials = Specials.IEEE

    @property
    def bits(self) -> int:
        """Width in bits."""
        return self.exponent_bits + self.mantissa_bits + (self.specials is not Specials.SCALE)

    @property
    def max(self) -> float:
        """Largest finite value."""
        top = (1 << self.exponent_bits) - 1
        if self.specials is Specials.SCALE:
            return 2.0 ** (top - 1 - self.bias)
        if self.specials is Specials.IEEE:
            return self._value(top - 1, (1 << self.mantissa_bits) - 1)
        return self._value(top, (1 << self.mantissa_bits) - 1 - (self.specials is Specials.FN))

    @property
    def min_normal(self) -> float:
        """Least value with a full mantissa."""
        return 2.0 ** ((0 if self.specials is Specials.SCALE else 1) - self.bias)

    @property
    def min_subnormal(self) -> float:
        """Least positive value."""
        return self.min_normal * self.eps

    @property
    def eps(self) -> float:
        """Distance from 1 to the next larger value."""
        return 2.0**-self.mantissa_bits

    @property
    def overflow(self) -> Overflow:
        """What ml_dtypes does beyond the largest value."""
        return {
            Specials.IEEE: Overflow.INF,
            Specials.NONE: Overflow.SATURATE,
        }.get(self.specials, Overflow.NAN)

    def cast(self, values: ArrayLike, overflow: Overflow | None = None) -> NDArray[float64]:
        """Round to nearest, ties to even mantissas; float64 holds every format exactly."""
        given = np.asarray(values, dtype=np.float64)
        if self.specials is Specials.SCALE:
            return _power_of_two(given, self)
        beyond = self.overflow if overflow is None else overflow
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = _to_multiple(given, self.quantum(given))
            found = _beyond(rounded, self.max, beyond)
        return found + 0.0 if self.specials is Specials.FNUZ else found

    def quantum(self, values: NDArray[float64]) -> NDArray[float64]:
        """Distance between neighbours where each value lies."""
        _, exponent = np.frexp(np.where(np.isfinite(values), values, 1.0))
        least = 1 - self.bias
        power = np.maximum(np.where(values == 0, least, exponent - 1), least) - self.mantissa_bits
        return np.asarray(np.ldexp(1.0, power), dtype=np.float64)

    def encode(self, value: float) -> int:
        """The bits of a value that the format holds."""
        sign = int(np.signbit(value)) << (self.bits - 1) if self.specials is not Specials.SCALE else 0
        if np.isnan(value):
            return self._nan()
        if np.isinf(value):
            return sign | ((1 << self.exponent_bits) - 1) << self.mantissa_bits
        if self.specials is Specials.SCALE:
            return round(float(np.log2(value))) + self.bias
        size = abs(value)
        if size < self.min_normal:
            return sign | round(size / self.min_subnormal)
        _, exponent = np.frexp(size)
        fraction = size / 2.0 ** (int(exponent) - 1) - 1
        field = int(exponent) - 1 + self.bias
        return sign | field << self.mantissa_bits | round(fraction * (1 << self.mantissa_bits))

    def decode(self, code: int) -> float:
        """The value of a code."""
        if self.specials is Specials.SCALE:
            return float("nan") if code == (1 << self.bits) - 1 else 2.0 ** (code - self.bias)
        sign = -1.0 if code >> (self.bits - 1) else 1.0
        field = code >> self.mantissa_bits & ((1 << self.exponent_bits) - 1)
        mantissa = code & ((1 << self.mantissa_bits) - 1)
        if self.specials is Specials.FNUZ and code == 1 << (self.bits - 1):
            return float("nan")
        if field == (1 << self.exponent_bits) - 1:
            if self.specials is Specials.IEEE:
                return sign * float("inf") if mantissa == 0 else float("nan")
            if self.specials is Specials.FN and mantissa == (1 << self.mantissa_bits) - 1:
                return float("nan")
        return sign * self._value(field, mantissa)

    def _value(self, field: int, mantissa: int) -> float:
        if field == 0:
            return float(np.ldexp(float(mantissa), 1 - self.bias - self.mantissa_bits))
        return float(
            np.ldexp(float((1 << self.mantissa_bits) + mantissa), field - self.bias - self.mantissa_bits)
        )

    def _nan(self) -> int:
        if self.specials is Specials.FNUZ:
            return 1 << (self.bits - 1)
        if self.specials is Specials.SCALE:
            return (1 << self.bits) - 1
        top = ((1 << self.exponent_bits) - 1) << self.mantissa_bits
        if self.specials is Specials.FN:
            return top | (1 << self.mantissa_bits) - 1
        return top | 1 << (self.mantissa_bits - 1)


def _to_multiple(values: NDArray[float64], quantum: NDArray[float64]) -> NDArray[float64]:
    return np.where(np.isfinite(values), np.copysign(np.rint(values / quantum) * quantum, values), values)


def _beyond(values: NDArray[float64], largest: float, overflow: Overflow) -> NDArray[float64]:
    if overflow is Overflow.SATURATE:
        return np.clip(values, -largest, largest)
    over = np.copysign(np.inf, values) if overflow is Overflow.INF else np.full_like(values, np.nan)
    return np.where(np.abs(values) > largest, over, values)


def _power_of_two(values: NDArray[float64], rule: Format) -> NDArray[float64]:
    """Nearest power of two, the larger of two as near; zero and below have none."""
    fraction, exponent = np.frexp(np.where(values > 0, values, 1.0))
    power = np.maximum(exponent - 1 + (fraction >= 0.75), -rule.bias)
    found = np.ldexp(1.0, power)
    return np.where((values > 0) & (found <= rule.max), found, np.nan)


_ALL: Final = (
    Format("float64", 11, 52, 1023),
    Format("float32", 8, 23, 127),
    Format("float16", 5, 10, 15),
    Format("bfloat16", 8, 7, 127),
    Format("tf32", 8, 10, 127),
    Format("float8_e4m3fn", 4, 3, 7, Specials.FN),
    Format("float8_e5m2", 5, 2, 15),
    Format("float8_e4m3fnuz", 4, 3, 8, Specials.FNUZ),
    Format("float8_e5m2fnuz", 5, 2, 16, Specials.FNUZ),
    Format("float8_e3m4", 3, 4, 3),
    Format("float6_e2m3fn", 2, 3, 1, Specials.NONE),
    Format("float6_e3m2fn", 3, 2, 3, Specials.NONE),
    Format("float4_e2m1fn", 2, 1, 1, Specials.NONE),
    Format("float8_e8m0fnu", 8, 0, 127, Specials.SCALE),
)
FORMATS: Final = {each.name: each for each in _ALL}
"""Every format by the name that torch and ml_dtypes give it; tf32 computes in 19 bits and is stored in 32."""


def number_format(name: str) -> Format:
    """The format of that name. Raises UnknownNameError."""
    if name not in FORMATS:
        raise UnknownNameError("number format", name, FORMATS)
    return FORMATS[name]


def tf32_away(values: ArrayLike) -> NDArray[float64]:
    """TF32 as the tensor cores' own conversion rounds: ties away from zero."""
    rule = FORMATS["tf32"]
    given = np.asarray(values, dtype=np.float64)
    quantum = rule.quantum(given)
    rounded = np.copysign(np.floor(np.abs(given) / quantum + 0.5) * quantum, given)
    return _beyond(np.where(np.isfinite(given), rounded, given), rule.max, Overflow.INF)


def stochastic_bfloat16(values: ArrayLike, noise: ArrayLike) -> NDArray[float64]:
    """float32 bits plus 16 bits of noise, the low half cleared: rounds up as often as the value lies high."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    summed = (bits + np.asarray(noise, dtype=np.uint32)) & np.uint32(0xFFFF0000)
    return summed.astype(np.uint32).view(np.float32).astype(np.float64)
