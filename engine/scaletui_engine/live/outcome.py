"""What it comes to when the scenario of a job is rebuilt; without the engine that rebuilds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaletui_engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Batch:
    """What shapes do not tell; 0 where it is not known."""

    micro_batch: int = 0
    seq: int = 0

    @property
    def is_known(self) -> bool:
        """Whether activations can be foretold."""
        return self.micro_batch > 0 and self.seq > 0


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The job as a scenario."""

    scenario: Scenario
    batch: Batch
    left_over: int
    """Elements of parameters that are no part of the architecture."""


@dataclass(frozen=True, slots=True)
class Unbuilt:
    """Why a job is no scenario: a message id and what it is about."""

    why: str
    detail: str = ""
