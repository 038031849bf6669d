"""What the engine refuses, and why: every refusal carries the equation that failed with its numbers."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


class ScenarioError(ValueError):
    """A scenario, plan or argument that cannot be evaluated; `str()` is the one line a person reads."""

    def __init__(self, equation: str, nearest: str | None = None) -> None:
        self.equation = equation
        """What failed, with its numbers: "dp 4 x tp 3 x pp 2 = 24, but the cluster has 16 GPUs"."""
        self.nearest = nearest
        """The nearest valid choice, when there is one: "tp 4"."""
        super().__init__(equation if nearest is None else f"{equation}; nearest valid: {nearest}")


class DivisibilityError(ScenarioError):
    """A size that an axis does not divide."""


class WorldSizeError(ScenarioError):
    """Axes whose product is not the number of GPUs."""


class ValueRangeError(ScenarioError):
    """A number outside the range in which it means anything."""


class ParseError(ScenarioError):
    """Text that is not a value of the kind that was asked for; files add line and column."""


BRIEF: Final = 20
"""Characters of a value that a refusal repeats."""
_LONG: Final = 8192
"""Bits from which a number is not written out: Python refuses to from 4,300 digits on."""
FEW_NAMES: Final = 12
"""As many names as a line holds."""


class UnknownNameError(ScenarioError):
    """A name that does not exist, with the nearest that does, or all that do where they are few."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(dict.fromkeys(known))
        close = nearest_name(name, names)
        shown = name if len(name) <= 60 else name[:57] + "..."
        hint = f", did you mean {close!r}?" if close else ""
        all_listed = not close and 0 < len(names) <= FEW_NAMES
        if all_listed:
            hint = f", not one of {', '.join(names)}"
        super().__init__(f"unknown {kind} {shown!r}{hint}")
        self.kind = kind
        self.name = name
        self.all_listed = all_listed
        """Whether the line itself holds every name that there is."""


def brief(value: object) -> str:
    """A value for a line that says what is wrong with it: its first 20 characters where there are more."""
    if isinstance(value, int) and value.bit_length() > _LONG:
        return "a number of over 2,000 digits"
    if isinstance(value, str):
        return repr(value if len(value) <= BRIEF else f"{value[:BRIEF]}...")
    text = repr(value)
    return text if len(text) <= BRIEF else f"{text[:BRIEF]}..."


def nearest_name(name: str, known: Iterable[str], alike: float = 0.5) -> str | None:
    """The first known name that begins so, else the most alike, if difflib finds any that much alike."""
    wanted, names = name[:200].lower(), list(known)
    begun = (candidate for candidate in names if len(wanted) > 1 and candidate.lower().startswith(wanted))
    close = get_close_matches(wanted, names, n=1, cutoff=alike)
    return next(begun, close[0] if close else None)
