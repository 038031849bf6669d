"""A timeline as plain text: one line a rank, one character a slice of time."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Final

import numpy as np

from scaletui_engine.schedule.explore.window import Window, actions_in, density
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
    wide = _exact_width(timeline, room)
    bodies = _named(timeline, wide) if wide else _prevailing(timeline, room)
    return tuple(f"{f'r{rank}':<{label}}{body}".rstrip() for rank, body in enumerate(bodies))


def _exact_width(timeline: Timeline, room: int) -> int:
    """Columns in which the shortest action has at least two, or 0 where the room does not allow it."""
    length = timeline.end - timeline.start
    shortest = float(length[length > 0].min())
    per_cell = min(
        len(str(timeline.schedule.units - 1)) + 1, floor(room * shortest / timeline.makespan + 1e-9)
    )
    return max(1, round(per_cell * timeline.makespan / shortest)) if per_cell >= 2 else 0


def _named(timeline: Timeline, columns: int) -> list[str]:
    index = actions_in(timeline, Window(0.0, timeline.makespan, columns))
    return [_line(timeline, row) for row in index]


def _line(timeline: Timeline, row: NDArray[np.int64]) -> str:
    text: list[str] = []
    starts = np.flatnonzero(np.diff(row, prepend=NOTHING - 1))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=True):
        width, index = stop - start, int(row[start])
        text.append(IDLE * width if index == NOTHING else _cell(timeline, index, width))
    return "".join(text)


def _cell(timeline: Timeline, index: int, width: int) -> str:
    """Letters and numbers, or where they do not fit letters and one digit in base 36."""
    actions = [timeline.table.action(i) for i in range(index, int(timeline.table.last[index]) + 1)]
    name = "&".join(f"{action.kind.letter}{action.microbatch}" for action in actions)
    if len(name) > width:
        name = "&".join(f"{action.kind.letter}{_DIGITS[action.microbatch % 36]}" for action in actions)
    return name[:width].ljust(width, _FILL)


def _prevailing(timeline: Timeline, columns: int) -> list[str]:
    shares = density(timeline, Window(0.0, timeline.makespan, columns))
    most = shares.argmax(axis=2)
    idle = shares.sum(axis=2) < 0.5
    letters = np.array([kind.letter for kind in COMPUTE])
    return ["".join(np.where(idle[rank], IDLE, letters[most[rank]])) for rank in range(len(shares))]
