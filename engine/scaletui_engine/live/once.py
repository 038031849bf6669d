"""What is asked of one look at a job or a rank again and again, by many panes, is worked out once."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Look = TypeVar("Look")
T = TypeVar("T")


def once_a_look(function: Callable[[Look], T]) -> Callable[[Look], T]:
    """The same function, which keeps its last answer for as long as the very same look is asked about.

    Two looks are never compared: for a thousand ranks that costs more than the answer.
    """
    kept: tuple[Look, T] | None = None

    @wraps(function)
    def answer(look: Look) -> T:
        nonlocal kept
        found = kept
        if found is None or found[0] is not look:
            found = kept = (look, function(look))
        return found[1]

    return answer
