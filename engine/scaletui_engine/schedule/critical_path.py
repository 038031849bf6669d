"""The critical path: a chain of actions and messages without slack from time 0 to the makespan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from scaletui_engine.schedule.timeline import Timeline


def critical_path(timeline: Timeline) -> tuple[int, ...]:
    """Indices of its actions in time order, a pair counting once.

    Where an action's rank and its input were ready at the same moment the path stays on the rank; among
    ranks that end last it takes the first.
    """
    decisive = timeline.binding.decisive
    index = int(timeline.end.argmax())
    path: list[int] = []
    while index != NOTHING:
        path.append(index)
        index = int(decisive[index])
    return tuple(reversed(path))
