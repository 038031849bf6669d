"""What a schedule is asked for: ranks, microbatches, chunks, and the few choices some schedules take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scaletui_engine.errors import ValueRangeError, brief
from scaletui_engine.schedule.code import MAX_STAGES


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a pipeline; stages = ranks x chunks."""

    ranks: int
    microbatches: int
    chunks: int = 1

    @property
    def stages(self) -> int:
        """Stages of the model."""
        return self.ranks * self.chunks


@dataclass(frozen=True, slots=True)
class Choices:
    """What only some schedules ask."""

    group: int | None = None
    """Megatron-LM's microbatch_group_size_per_vp_stage; None takes the number of ranks."""
    slices: int = 2
    """Slices of a sequence in seq1f1b."""
    memory_limit: float | None = None
    """Microbatches of activations a rank may hold in zb-auto; None takes 2 x ranks (ZB-2p)."""
    freed_by_input_grad: float = 0.5
    """The part of a microbatch's activations that I frees in zb-auto; W frees the rest."""
    reordered: bool = True
    """Whether v-half and v-min fill the slots that repeated building blocks leave free at both ends."""


MAX_PLACES: Final = 1 << 21
"""Stages x microbatches that are laid out: 64 ranks, 2 chunks and 1024 microbatches are 2^17."""


def check_shape(shape: Shape, slices: int = 1) -> None:
    """Raises ValueRangeError for a pipeline of no ranks, microbatches, chunks or slices, or of too many."""
    sizes = {
        "ranks": shape.ranks,
        "microbatches": shape.microbatches,
        "chunks": shape.chunks,
        "slices": slices,
    }
    for name, value in sizes.items():
        if value < 1:
            found = f"{name} {brief(value)} < 1"
            raise ValueRangeError(found, f"{name} 1")
    if shape.stages > MAX_STAGES:
        ranks, chunks, stages = map(brief, (shape.ranks, shape.chunks, shape.stages))
        found = f"ranks {ranks} x chunks {chunks} = {stages} stages"
        raise ValueRangeError(f"{found} > {MAX_STAGES}", f"{MAX_STAGES} stages")
    units = shape.microbatches * slices
    if shape.stages * units > MAX_PLACES:
        found = f"{shape.stages} stages x {brief(units)} microbatches = {brief(shape.stages * units)}"
        raise ValueRangeError(f"{found} > {MAX_PLACES}", f"{MAX_PLACES // shape.stages} microbatches")
