"""A schedule as PyTorch's CSV, one line a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui_engine.schedule.schedule import Schedule


def csv_lines(schedule: Schedule) -> Iterator[str]:
    """compute_only for a schedule of compute actions, compute_comms for a lowered one; no idle cells."""
    for rank in range(schedule.ranks):
        yield ",".join(map(str, schedule.steps(rank)))
