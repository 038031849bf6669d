"""What is asked of one look at a job again and again, by many panes, is worked out once."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaletui_engine.live.snapshot import JobView

T = TypeVar("T")


def once_a_job(function: Callable[[JobView], T]) -> Callable[[JobView], T]:
    """The same function, which keeps its last answer for as long as the very same job is asked about.

    Two jobs are never compared: for a thousand ranks that costs more than the answer.
    """
    kept: tuple[JobView, T] | None = None

    @wraps(function)
    def answer(job: JobView) -> T:
        nonlocal kept
        found = kept
        if found is None or found[0] is not job:
            found = kept = (job, function(job))
        return found[1]

    return answer
