"""Which FSDP units held unsharded weights, sample by sample, and the wave that many steps' samples draw.

A sampling thread is far slower than the wave that runs through the layers. But steps are alike, so samples of
many steps, laid over each other by how far into its step each was taken, show the whole wave, as a sampling
oscilloscope does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST: Final = 128
"""Samples kept."""


@dataclass(frozen=True, slots=True)
class WaveSample:
    """One look at the units of a rank."""

    monotonic_ns: int
    step: int
    """Optimizer steps done by then."""
    phase: float | None
    """How far into its step it was taken, by the length of the step before: 0 at its beginning, below 1. None
    where the beginning is not known or the step took longer."""
    groups: bytes
    """One bit a unit in the order of the plan's groups, the lowest first; zeros at the end are left out."""

    def is_lit(self, unit: int) -> bool:
        """Whether the unit held the weights of all ranks."""
        byte = unit // 8
        return byte < len(self.groups) and bool(self.groups[byte] >> unit % 8 & 1)

    def lit(self, count: int) -> int:
        """How many of the first units did."""
        return sum(self.is_lit(unit) for unit in range(count))


@dataclass(frozen=True, slots=True)
class Wave:
    """Samples of many steps in bins of the step's length."""

    seen: tuple[int, ...]
    """Samples in each bin."""
    lit: tuple[tuple[int, ...], ...]
    """For each unit, in how many samples of each bin it was unsharded."""


def folded(samples: Sequence[WaveSample], units: int, bins: int) -> Wave:
    """The wave that the samples draw; those without a phase are left out."""
    seen = [0] * bins
    lit = [[0] * bins for _ in range(units)]
    for sample in samples:
        if sample.phase is None:
            continue
        place = min(int(sample.phase * bins), bins - 1)
        seen[place] += 1
        for unit in range(min(units, 8 * len(sample.groups))):
            lit[unit][place] += sample.is_lit(unit)
    return Wave(tuple(seen), tuple(map(tuple, lit)))


def phase_of(now_ns: int, step_end_ns: int, step_ns: int | None) -> float | None:
    """How far into a step `now_ns` is, when the step before ended at `step_end_ns` and took `step_ns`."""
    if not step_ns:
        return None
    phase = (now_ns - step_end_ns) / step_ns
    return phase if 0 <= phase < 1 else None
