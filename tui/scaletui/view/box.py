"""The cells that a drawing may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A size in cells."""

    width: int
    height: int = 1
