"""What an order is made from, and the refusals that orders share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from scaletui_engine.errors import DivisibilityError, ValueRangeError
from scaletui_engine.schedule.shape import Choices
from scaletui_engine.schedule.times import UNIT_TIMES, Times

if TYPE_CHECKING:
    from scaletui_engine.schedule.code import Code
    from scaletui_engine.schedule.shape import Shape

Rows: TypeAlias = "list[list[Code]]"
"""One list of codes a rank."""

DEFAULT_CHOICES: Final = Choices()


@dataclass(frozen=True, slots=True)
class Request:
    """A shape, and what only some orders look at."""

    name: str
    shape: Shape
    choices: Choices = DEFAULT_CHOICES
    times: Times = UNIT_TIMES
    """Only a search looks at them."""


def require_microbatches(request: Request, least: int, why: str) -> None:
    """Raises ValueRangeError: `why` is the right side of the equation, "pipeline ranks", "2 x ranks"."""
    found = request.shape.microbatches
    if found < least:
        raise ValueRangeError(
            f"{request.name} needs microbatches ({found}) >= {why} ({least})",
            f"{least} microbatches, or fewer ranks",
        )


def require_even(request: Request, what: str, value: int) -> None:
    """Raises DivisibilityError for an odd number of ranks or microbatches."""
    if value % 2:
        raise DivisibilityError(
            f"{request.name} runs from both ends: {what} {value} % 2 = 1", f"{what} {value + 1}"
        )
