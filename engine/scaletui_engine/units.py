"""Bytes, counts and seconds: exact arithmetic and the text people write them in."""

from __future__ import annotations

import re
from typing import Final

from scaletui_engine.errors import ParseError, brief

KIB: Final = 1 << 10
MIB: Final = 1 << 20
GIB: Final = 1 << 30
TIB: Final = 1 << 40
GB: Final = 10**9

_BYTES: Final = {
    "b": 1, "kb": 10**3, "mb": 10**6, "gb": GB, "tb": 10**12,
    "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB,
}  # fmt: skip
_COUNTS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20}
_LONGEST: Final = 40
"""Characters of the longest number that is read: nothing that is counted here has so many digits."""
_NUMBER = re.compile(r"\s*(\d{1,3}(?: \d{3})+|\d+(?:_\d+)*)(?:\.(\d+))?\s*([a-zA-Z]*)\s*", re.ASCII)
"""Blanks part thousands and nothing else: "8 8" is two numbers."""


def ceil_div(a: int, b: int) -> int:
    """The least integer not below a / b, for b > 0."""
    return -(-a // b)


def round_up(value: int, multiple: int) -> int:
    """The least multiple of `multiple` not below `value`."""
    return ceil_div(value, multiple) * multiple


def parse_bytes(text: str) -> int:
    """'80GiB', '80 GB', '1.5TiB' or a bare number of bytes. Raises ParseError."""
    return _parse(text, _BYTES, "b", "a size like 80GiB or 80GB")


def parse_count(text: str) -> int:
    """A count of tokens or sequences: '8192', '8k' = 8 x 1024, '1m' = 1024 x 1024. Raises ParseError."""
    return _parse(text, _COUNTS, "", "a whole number like 8192 or 8k")


def _parse(text: str, units: dict[str, int], default: str, wanted: str) -> int:
    match = _NUMBER.fullmatch(text)
    if match is None:
        if _NUMBER.fullmatch(text.strip().removeprefix("-")):
            raise ParseError(f"{brief(text)} is negative: wanted {wanted}")
        raise ParseError(f"{brief(text)} is not {wanted}")
    if len(text) > _LONGEST:
        raise ParseError(f"{brief(text)} is too long: wanted {wanted}")
    whole, fraction, unit = match.groups()
    scale = units.get((unit or default).lower())
    if scale is None:
        raise ParseError(f"{brief(text)} has the unknown unit {unit!r}: wanted {wanted}")
    digits = fraction or ""
    if digits and scale == 1:
        # Half the world writes eight thousand as 8.000.
        raise ParseError(f"{brief(text)} is not a whole number: wanted {wanted}")
    numerator = int(re.sub(r"[_ ]", "", whole) + digits) * scale
    value, rest = divmod(numerator, int("1" + "0" * len(digits)))
    if rest:
        raise ParseError(f"{brief(text)} is not a whole number: wanted {wanted}")
    return value


def exact_bytes(value: int) -> str:
    """The shortest text that `parse_bytes` reads back as `value`: '80GiB', '1536MiB', '123B'."""
    for unit, size in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if value and value % size == 0:
            return f"{value // size}{unit}"
    return f"{value}B"
