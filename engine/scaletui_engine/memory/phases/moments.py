"""Which moments a plan has, and the one at which it peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.memory.phases.gathered import gathered_moments
from scaletui_engine.memory.phases.replicated import replicated_moments

if TYPE_CHECKING:
    from scaletui_engine.memory.contents import Contents
    from scaletui_engine.memory.phases.moment import Moment


def moments(contents: Contents) -> tuple[Moment, ...]:
    """Every candidate for the peak of one pipeline rank, in the order of a step."""
    if contents.load.plan.strategy.shards_weights:
        return gathered_moments(contents)
    return replicated_moments(contents)


def peak(found: tuple[Moment, ...]) -> Moment:
    """The moment with the largest sum; the first of equals."""
    return max(found, key=lambda moment: moment.total)
