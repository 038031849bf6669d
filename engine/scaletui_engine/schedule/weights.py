"""Weights that a pipeline holds: copies of the model, and versions of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui_engine.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True)
class WeightsHeld:
    """What one rank keeps."""

    stages: tuple[int, ...]
    """The stages whose weights it has."""
    versions: int
    """Versions of each (PipeDream keeps one a microbatch in flight)."""

    def fraction(self, stages: int) -> float:
        """Of the model's weights, when its stages are equal."""
        return len(self.stages) * self.versions / stages


def weights_held(schedule: Schedule) -> tuple[WeightsHeld, ...]:
    """One entry a rank. DualPipe has two stages a rank and so holds the model twice."""
    versions = schedule.weight_versions or (1,) * schedule.ranks
    return tuple(
        WeightsHeld(schedule.placement.stages_of(rank), versions[rank]) for rank in range(schedule.ranks)
    )


def model_copies(schedule: Schedule) -> float:
    """Weights in the whole pipeline over the weights of one model, stages being equal."""
    return sum(held.fraction(schedule.stages) for held in weights_held(schedule))


def weights_bytes(schedule: Schedule, stages: tuple[float, ...]) -> tuple[float, ...]:
    """[ranks] bytes of all versions of the weights of a rank's stages; `stages` has the bytes of one each."""
    return tuple(
        held.versions * sum(stages[stage] for stage in held.stages) for held in weights_held(schedule)
    )
