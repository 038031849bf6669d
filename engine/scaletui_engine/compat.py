"""What the standard library lacks on the oldest Python that scaletui runs on."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from enum import StrEnum

    import tomllib
else:
    from enum import Enum

    import tomli as tomllib

    class StrEnum(str, Enum):
        """A string enumeration whose members print as their value (Python 3.11's)."""

        __str__ = str.__str__


__all__ = ["StrEnum", "tomllib"]
