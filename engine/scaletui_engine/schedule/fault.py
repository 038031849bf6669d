"""What is wrong with an order: one fault, one sentence with its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from scaletui_engine.compat import StrEnum
from scaletui_engine.errors import ScenarioError


class FaultKind(StrEnum):
    """The ways in which an order can be wrong."""

    RANGE = "range"
    """A stage or microbatch that does not exist."""
    PLACEMENT = "placement"
    """A stage on a rank that does not hold it."""
    REPEATED = "repeated"
    """The same action twice, or a backward both whole and split."""
    MISSING = "missing"
    """A forward or backward that nobody runs."""
    UNSPLIT = "unsplit"
    """I without W, or W without I."""
    EARLY = "early"
    """B before F, I before F, or W before I."""
    APART = "apart"
    """Forward and backward of one microbatch on different copies of the model."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; `rank` and `cell` are -1 where it has no single place."""

    kind: FaultKind
    message: str
    rank: int = -1
    cell: int = -1


class OrderError(ScenarioError):
    """An order that cannot run; `faults` has them all, the message the first."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(next(iter(faults)).message + more)
        self.faults: tuple[Fault, ...] = faults
