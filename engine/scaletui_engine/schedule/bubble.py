"""The four numbers that people call the bubble, each by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scaletui_engine.errors import ValueRangeError

if TYPE_CHECKING:
    from scaletui_engine.schedule.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Bubble:
    """Ideal time is what a rank computes, averaged over the ranks: the makespan if nobody ever waited."""

    ideal: float
    over_ideal: float
    """A: (makespan - ideal) / ideal. Megatron-LM's and Llama 3's; (p - 1) / m for 1F1B."""
    over_makespan: float
    """B: (makespan - ideal) / makespan, the share of idle time; (p - 1) / (m + p - 1) for 1F1B."""
    zero_bubble: float
    """C: (longest span - ideal) / longest span. The zero-bubble papers': a span runs from a rank's own first
    start to its own last end, so filling and draining in step cost nothing."""
    per_rank: tuple[float, ...]
    """D: makespan less the busy time of each rank."""
    within_span: tuple[float, ...]
    """The part of D between each rank's first start and last end."""


def bubble_of(timeline: Timeline) -> Bubble:
    """The bubble of a timeline, by all four definitions. Raises ValueRangeError where nobody computes."""
    busy, makespan, spans = timeline.busy, timeline.makespan, timeline.spans
    ideal, longest = float(busy.mean()), float(spans.max())
    if ideal == 0:
        raise ValueRangeError("what all ranks compute = 0: no action takes any time")
    return Bubble(
        ideal=ideal,
        over_ideal=(makespan - ideal) / ideal,
        over_makespan=(makespan - ideal) / makespan,
        zero_bubble=(longest - ideal) / longest,
        per_rank=tuple((makespan - busy).tolist()),
        within_span=tuple((spans - busy).tolist()),
    )
