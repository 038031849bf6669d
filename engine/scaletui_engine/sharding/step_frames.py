"""The moments of one training step on one rank: what happens to which unit, and the bytes it holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

from scaletui_engine.compat import StrEnum

if TYPE_CHECKING:
    from scaletui_engine.plan import Strategy
    from scaletui_engine.sharding.step_units import PlayedUnit


class Act(StrEnum):
    """What happens in a frame."""

    START = "start"
    """Between two steps."""
    GATHER = "gather"
    """All-gather of a unit's weights; ahead of the unit that runs where the plan prefetches."""
    FORWARD = "forward"
    BACKWARD = "backward"
    FREE = "free"
    """The gathered copy goes; after a backward pass the whole gradient is left behind."""
    KEEP = "keep"
    """The whole gradient is added to those of earlier microbatches: nothing is sent."""
    REDUCE = "reduce"
    """Reduce-scatter, or all-reduce, of whole gradients."""
    SKIP = "skip"
    """Microbatches that are the same as the last one, in one frame."""
    STEP = "step"
    """The optimizer updates what the rank owns."""
    PUBLISH = "publish"
    """The updated weights go to the ranks that hold them whole."""


class Weight(IntEnum):
    """What a rank has of a unit's weights."""

    SHARD = 0
    GATHERING = 1
    """The buffer of an all-gather under way, or a part of the unit where a limit cuts through it."""
    WHOLE = 2
    """A gathered copy beside the shard."""
    OWNED = 3
    """Whole for ever: nothing is cut."""


class Gradient(IntEnum):
    """What a rank has of a unit's gradient."""

    NONE = 0
    PART = 1
    """The backward pass of the unit runs."""
    WHOLE = 2
    """Just computed, or summed up and not yet reduced."""
    REDUCING = 3
    """The copy that the reduction reads."""
    SHARD = 4
    """The rank's slice of the reduced gradient."""
    REDUCED = 5
    """The reduced gradient, all of it."""


@dataclass(frozen=True, slots=True)
class StepFrame:
    """One moment of one rank; the others hold as much."""

    act: Act
    unit: int | None
    """Place in the list of units."""
    microbatch: int
    parts: tuple[int, ...]
    """Bytes of `HELD`, in that order."""
    sent: int
    """Bytes that the rank has sent since the start."""
    weights: bytes
    """A `Weight` for every unit."""
    gradients: bytes
    """A `Gradient` for every unit."""
    stepped: bool = False
    """Whether the optimizer has run."""

    @property
    def total(self) -> int:
        """Bytes held."""
        return sum(self.parts)

    def part(self, name: str) -> int:
        """Bytes of one part."""
        return self.parts[HELD.index(name)]


HELD = ("weights", "gradients", "optimizer", "master_weights", "unsharded", "buffers")
"""The parts that a step player counts: activations and loss are the memory engine's subject."""


@dataclass(frozen=True)
class PlayedStep:
    """A step of one pipeline rank, from before its first frame to the next step's."""

    strategy: Strategy
    units: tuple[PlayedUnit, ...]
    """In the order of the forward pass."""
    ranks: int
    """Ranks that share the states; 1 where nothing is cut."""
    stage_rank: int
    microbatches: int
    frames: tuple[StepFrame, ...]

    @cached_property
    def peak(self) -> int:
        """Index of the frame that holds most; the first of equals."""
        totals = [frame.total for frame in self.frames]
        return totals.index(max(totals))

    @property
    def last(self) -> int:
        """Index of the last frame."""
        return len(self.frames) - 1
