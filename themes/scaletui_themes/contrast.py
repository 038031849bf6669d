"""Contrast of two colours as WCAG 2.2 defines it: (L1 + 0.05) / (L2 + 0.05) of luminances in sRGB."""

from __future__ import annotations


def rgb(colour: str) -> tuple[float, float, float]:
    """`#rrggbb` as three numbers from 0 to 1."""
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def linear(channel: float) -> float:
    """An sRGB channel (0 to 1) as light."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, 0 to 1."""
    red, green, blue = (linear(channel) for channel in rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two `#rrggbb` colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def better_ink(ground: str, inks: tuple[str, str]) -> str:
    """The one of two inks that reads better on the ground; the first on a ground that is not RGB."""
    if not ground.startswith("#"):
        return inks[0]
    return max(inks, key=lambda ink: contrast(ink, ground))
