"""A timeline as plain text: one line a rank, one character a slice of time."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.schedule.explore.chart import chart_of
from scaletui_engine.schedule.explore.window import Window, actions_in, density, whole
from scaletui_engine.schedule.kind import COMPUTE
from scaletui_engine.schedule.needs import NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scaletui_engine.schedule.timeline import Timeline

IDLE: Final = "."
_FILL: Final = "-"
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def gantt_lines(timeline: Timeline, columns: int = 160) -> tuple[str, ...]:
    """Letter and microbatch of every action where there is room for them, else the letter that prevails.

    At most `columns` wide, labels included; a pair is a forward and a backward joined by "&".
    """
    label = len(f"r{timeline.schedule.ranks - 1} ")
    room = max(8, columns - label)
    per_action = _columns_of_the_shortest(timeline, room)
    bodies = _named(timeline, per_action) if per_action >= 2 else _prevailing(timeline, room)
    return tuple(f"{f'r{rank}':<{label}}{body}".rstrip() for rank, body in enumerate(bodies))


def _columns_of_the_shortest(timeline: Timeline, room: int) -> int:
    """As many as the longest name needs, or as the room allows."""
    return min(
        len(str(timeline.schedule.units - 1)) + 1,
        floor(room * _shortest(timeline) / timeline.makespan + 1e-9),
    )


def _shortest(timeline: Timeline) -> float:
    length = timeline.end - timeline.start
    return float(length[length > 0].min())


def _named(timeline: Timeline, per_action: int) -> list[str]:
    columns = max(1, round(per_action * timeline.makespan / _shortest(timeline)))
    index = actions_in(chart_of(timeline), Window(0.0, timeline.makespan, columns))
    whole = per_action > len(str(timeline.schedule.units - 1))
    return [_line(timeline, row, whole) for row in index]


def _line(timeline: Timeline, row: NDArray[np.int64], whole: bool) -> str:
    text: list[str] = []
    starts = np.flatnonzero(np.diff(row, prepend=NOTHING - 1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(row)], strict=True):
        width, index = stop - start, int(row[start])
        name = "" if index == NOTHING else _name(timeline, index, whole)
        text.append(name[:width].ljust(width, IDLE if index == NOTHING else _FILL))
    return "".join(text)


def _name(timeline: Timeline, index: int, whole: bool) -> str:
    """Letter and number of an action or of both of a pair; else the number's last digit in base 36."""
    actions = [timeline.table.action(i) for i in range(index, int(timeline.table.last[index]) + 1)]
    numbers = [str(action.microbatch) if whole else _DIGITS[action.microbatch % 36] for action in actions]
    return "&".join(action.kind.letter + number for action, number in zip(actions, numbers, strict=True))


def _prevailing(timeline: Timeline, columns: int) -> list[str]:
    chart = chart_of(timeline)
    shares = density(chart, whole(chart, columns))
    most = shares.argmax(axis=2)
    idle = shares.sum(axis=2) < 0.5
    letters = np.array([kind.letter for kind in COMPUTE])
    return ["".join(np.where(idle[rank], IDLE, letters[most[rank]])) for rank in range(len(shares))]
