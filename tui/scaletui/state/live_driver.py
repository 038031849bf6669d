"""The list of GPUs over the ranks: whether it is open, and which GPU is looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class GpuLook:
    """How the GPUs are looked at."""

    is_open: bool = False
    """Whether they stand in place of the ranks."""
    chosen: int = 0
    """The place of the GPU that is looked at closely."""


def toggled(look: GpuLook) -> GpuLook:
    """Open the list, or go back to the ranks."""
    return replace(look, is_open=not look.is_open)


def moved(look: GpuLook, by: int, count: int) -> GpuLook:
    """The GPU that many places on, of so many; the list ends at its ends."""
    return replace(look, chosen=min(max(look.chosen + by, 0), max(count - 1, 0)))


def placed(look: GpuLook, place: int) -> GpuLook:
    """Look at the GPU in that place."""
    return replace(look, chosen=place)
