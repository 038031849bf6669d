"""The nearest number of a kind."""

from __future__ import annotations


def divisors(number: int) -> tuple[int, ...]:
    """The divisors of a positive number, ascending."""
    low = [divisor for divisor in range(1, int(number**0.5) + 1) if number % divisor == 0]
    return tuple(sorted({*low, *(number // divisor for divisor in low)}))


def nearest_divisor(number: int, wanted: int) -> int:
    """The divisor of `number` nearest to `wanted`, the smaller of two as near."""
    return min(divisors(number), key=lambda divisor: (abs(divisor - wanted), divisor))


def nearest_multiple(factor: int, wanted: int) -> int:
    """The positive multiple of `factor` nearest to `wanted`, the smaller of two as near."""
    below = max(wanted // factor, 1) * factor
    return below if wanted - below <= below + factor - wanted else below + factor
