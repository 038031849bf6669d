"""Actions as integers: a schedule of hundreds of thousands of actions is a few arrays.

bit   21..     microbatch, -1 for an action of the whole stage
bits  5..20    stage
bit   4        the action overlaps with the next one of its row
bits  0..3     kind
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from scaletui_engine.schedule.kind import Kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Code: TypeAlias = int
"""One action; a pair is two, the first with the overlap bit."""

MICROBATCH_SHIFT: Final = 21
STAGE_SHIFT: Final = 5
STAGE_MASK: Final = (1 << (MICROBATCH_SHIFT - STAGE_SHIFT)) - 1
OVERLAP_BIT: Final = 1 << 4
KIND_MASK: Final = OVERLAP_BIT - 1
MAX_STAGES: Final = STAGE_MASK + 1

_I: Final = int(Kind.INPUT_GRAD)
_W: Final = int(Kind.WEIGHT_GRAD)
_B: Final = int(Kind.BACKWARD)


def forward(stage: int, microbatch: int) -> Code:
    """F."""
    return microbatch << MICROBATCH_SHIFT | stage << STAGE_SHIFT


def input_grad(stage: int, microbatch: int) -> Code:
    """I."""
    return microbatch << MICROBATCH_SHIFT | stage << STAGE_SHIFT | _I


def weight_grad(stage: int, microbatch: int) -> Code:
    """W."""
    return microbatch << MICROBATCH_SHIFT | stage << STAGE_SHIFT | _W


def backward(stage: int, microbatch: int) -> Code:
    """B."""
    return microbatch << MICROBATCH_SHIFT | stage << STAGE_SHIFT | _B


def overlapped(first: Code, second: Code) -> tuple[Code, Code]:
    """A forward and a backward that run as one."""
    return first | OVERLAP_BIT, second


def encode(kind: Kind, stage: int, microbatch: int) -> Code:
    """Any action."""
    return microbatch << MICROBATCH_SHIFT | stage << STAGE_SHIFT | kind


def kinds(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Kind of every code."""
    return codes & KIND_MASK


def stages(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Stage of every code."""
    return (codes >> STAGE_SHIFT) & STAGE_MASK


def microbatches(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Microbatch of every code, -1 for an action of the whole stage."""
    return codes >> MICROBATCH_SHIFT
