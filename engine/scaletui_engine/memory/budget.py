"""The answer of the memory engine: parts, stages, peak, capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS: Final = (
    "weights", "gradients", "optimizer", "master_weights", "activations", "loss", "unsharded", "buffers",
)  # fmt: skip
"""The parts of allocated memory, in the order in which they are drawn and listed."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Allocated bytes of one rank at one moment, by part."""

    weights: int = 0
    gradients: int = 0
    optimizer: int = 0
    master_weights: int = 0
    activations: int = 0
    loss: int = 0
    unsharded: int = 0
    buffers: int = 0

    @property
    def total(self) -> int:
        """The sum of the parts."""
        return (
            self.weights + self.gradients + self.optimizer + self.master_weights
            + self.activations + self.loss + self.unsharded + self.buffers
        )  # fmt: skip

    def items(self) -> Iterator[tuple[str, int]]:
        """(part, bytes) in drawing order."""
        return ((name, getattr(self, name)) for name in PARTS)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A labelled range of bytes: what cannot be known to the byte is never added to what can."""

    low: int
    high: int
    why: str
    """Message id of the sentence that says what it covers and where it comes from."""
    best: int | None = None
    """The single most likely figure, where the range has one."""

    @property
    def likely(self) -> int:
        """The most likely figure; the middle of a range that names none."""
        return (self.low + self.high) // 2 if self.best is None else self.best


@dataclass(frozen=True, slots=True)
class StageBudget:
    """One pipeline stage (the rank that holds most of it) at its peak."""

    stage: int
    phase: str
    """Message id of the moment of the peak: "forward", "loss", "backward", "end_of_backward", "step"."""
    parts: Parts
    reserved: ByteRange
    """What the caching allocator keeps from the driver, parts included."""
    outside: ByteRange
    """CUDA context, NCCL and libraries: outside the allocator."""
    workspaces: int = 0
    """What matrix products work in on Hopper and later; the allocator counts it, and no part holds it."""

    @property
    def peak_bytes(self) -> int:
        """Allocated bytes at the peak."""
        return self.parts.total

    @property
    def needed_bytes(self) -> int:
        """What the driver may have to give: reserved and outside, both at their high end."""
        return self.reserved.high + self.outside.high

    @property
    def likely_bytes(self) -> int:
        """What the driver most likely has to give."""
        return self.reserved.likely + self.outside.likely


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Every stage against one capacity."""

    stages: tuple[StageBudget, ...]
    capacity_bytes: int
    capacity_is_nominal: bool
    """True where no source says what the driver reports, and the marketed size stands in."""
    assumptions: tuple[str, ...]
    """Message ids of what was assumed."""

    @property
    def peak(self) -> StageBudget:
        """The stage that needs most."""
        return max(self.stages, key=lambda stage: (stage.needed_bytes, -stage.stage))

    @property
    def headroom_bytes(self) -> int:
        """Capacity less what the worst stage may need; negative when it does not fit."""
        return self.capacity_bytes - self.peak.needed_bytes

    @property
    def fits(self) -> bool:
        """Whether the worst stage's high end stays within the capacity."""
        return self.headroom_bytes >= 0

    @property
    def may_fit(self) -> bool:
        """Whether every stage's most likely figure stays within the capacity, whatever the high ends say."""
        return all(stage.likely_bytes <= self.capacity_bytes for stage in self.stages)
