"""Numbers as people read them: bytes, counts, shares, seconds, differences; in English and Portuguese."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_BINARY: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL: Final = ("B", "kB", "MB", "GB", "TB", "PB")
_WHOLE: Final = 99_999.95
_POWERS: Final = 999_999.5
_DURATIONS: Final = (
    ("us", 1e6, 1, 1000),
    ("ms", 1e3, 1, 100),
    ("s", 1, 3, 1),
    ("s", 1, 2, 10),
    ("s", 1, 1, 60),
)
"""(unit, how many to the second, digits, from where on the next unit is used)."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """How one language writes numbers; `decimal_bytes` is the user's choice of GB over GiB."""

    decimal: str = "."
    group: str = ","
    scales: tuple[str, ...] = ("", " k", " M", " B", " T")
    """Suffixes of 10^0, 10^3, ... 10^12."""
    decimal_bytes: bool = False

    @property
    def unit(self) -> str:
        """The unit that `gib` counts in: "GiB", or "GB" where asked."""
        return "GB" if self.decimal_bytes else "GiB"

    def fixed(self, value: float, digits: int = 1) -> str:
        """12345.678 -> "12,345.7"."""
        text = f"{value:,.{digits}f}"
        return text.translate({ord(","): self.group, ord("."): self.decimal})

    def integer(self, value: int) -> str:
        """128256 -> "128,256"."""
        return self.fixed(value, 0) if abs(value) < 1 << 53 else f"{value:,}".replace(",", self.group)

    def gib(self, value: int, digits: int = 1) -> str:
        """Bytes in `unit`, without its name, for columns whose head says it; at most 8 cells and a sign.

        From 100,000 on there is no fraction, from a million on three digits and a power: "1.32e11". No device
        holds so much, and a figure that is cut off would be another one.
        """
        amount = value / (10**9 if self.decimal_bytes else 1 << 30)
        if abs(amount) < _WHOLE:
            return self.fixed(amount, digits)
        if abs(amount) < _POWERS:
            return self.fixed(amount, 0)
        return f"{amount:.2e}".replace("e+0", "e").replace("e+", "e").replace(".", self.decimal)

    def bytes(self, value: int, digits: int = 1) -> str:
        """Bytes in `unit` with its name: "40.3 GiB"."""
        return f"{self.gib(value, digits)} {self.unit}"

    def size(self, value: int) -> str:
        """Bytes in the largest unit that leaves at least 1: "14.0 MiB", "512 B"."""
        base, units = (1000, _DECIMAL) if self.decimal_bytes else (1024, _BINARY)
        if abs(value) < base:
            return f"{self.integer(value)} {units[0]}"
        power = 1
        while power < len(units) - 1 and round(abs(value) / base**power, 1) >= base:
            power += 1
        return f"{self.fixed(value / base**power)} {units[power]}"

    def count(self, value: int) -> str:
        """Parameters or tokens in three digits: 8030261248 -> "8.03 B" (a billion; "bi" in Portuguese)."""
        if abs(value) < 1000:
            return self.integer(value)
        power = 1
        while power < len(self.scales) - 1 and round(abs(value) / 1000**power) >= 1000:
            power += 1
        scaled = value / 1000**power
        digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
        return self.fixed(scaled, digits) + self.scales[power]

    def percent(self, share: float, digits: int = 0) -> str:
        """0.273 -> "27.3 %" with one digit."""
        return f"{self.fixed(share * 100, digits)} %"

    def seconds(self, value_s: float) -> str:
        """A duration in the unit that suits it: "85.0 us", "41.2 ms", "0.412 s", "2 h 13 m"."""
        if value_s == 0:
            return "0 s"
        for unit, scale, digits, limit in _DURATIONS:
            if round(abs(value_s) * scale, digits) < limit:
                return f"{self.fixed(value_s * scale, digits)} {unit}"
        return _clock(round(value_s))

    def signed(self, value: int, form: Callable[[int], str]) -> str:
        """A difference in a form of this class: "+1.2 GiB", "-3.9 GiB"; 0 has no sign."""
        sign = "+" if value > 0 else "-" if value < 0 else ""
        return sign + form(abs(value))

    def signed_percent(self, share: float, digits: int = 1) -> str:
        """A relative difference: 0.112 -> "+11.2 %"; 0 has no sign."""
        sign = "+" if share > 0 else "-" if share < 0 else ""
        return sign + self.percent(abs(share), digits)


def _clock(value_s: int) -> str:
    sign, rest = ("-", -value_s) if value_s < 0 else ("", value_s)
    minutes, seconds = divmod(rest, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{sign}{days} d {hours} h"
    return f"{sign}{hours} h {minutes:02} m" if hours else f"{sign}{minutes} m {seconds:02} s"


def numbers_for(language: str, *, decimal_bytes: bool = False) -> Numbers:
    """The way of a language, "pt-BR" or "en"; English for any other."""
    if language.lower().startswith("pt"):
        return Numbers(",", ".", ("", " mil", " mi", " bi", " tri"), decimal_bytes)
    return Numbers(decimal_bytes=decimal_bytes)
