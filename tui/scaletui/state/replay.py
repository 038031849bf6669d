"""Where a replay stands: the look that is shown, the marks around it, and the steps from one to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state.playback import Playback, Track, placed

if TYPE_CHECKING:
    from scaletui_engine.live.recording.marks import Mark
    from scaletui_engine.live.recording.reader import Recording

TOGETHER_S: Final = 3.0
"""Ranks fall one after the other; marks so close to the last one are told as one thing."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A mark at its seconds from the start."""

    position: float
    mark: Mark


@dataclass(frozen=True, slots=True)
class Reel:
    """What the time line shows of a recording."""

    duration_s: float
    start_wall_ns: int
    marks: tuple[Placed, ...]
    is_damaged: bool = False
    """Whether the file ends in a block that is not whole."""

    @property
    def track(self) -> Track:
        """One second of the recording is one second at speed 1."""
        return Track(self.duration_s)


def reel_of(recording: Recording) -> Reel:
    """The time line of a recording; marks that one look brought stand in the order in which it told them."""
    marks = (Placed(recording.position_s(mark.monotonic_ns), mark) for mark in recording.marks)
    return Reel(
        recording.duration_s, recording.first.moment.wall_ns, tuple(marks), is_damaged=bool(recording.damage)
    )


def opened(recording: Recording, reel: Reel) -> Playback:
    """Where a replay opens: at its start, or where a job comes up that was not there yet."""
    return Playback() if recording.first.jobs else at_mark(Playback(), reel, 1)


def stepped(playback: Playback, recording: Recording, steps: int) -> Playback:
    """So many looks on, or back; back from between two looks is the one that is shown."""
    number = recording.number_at(playback.position)
    is_between = playback.position > recording.time_s(number)
    wanted = number + steps + (1 if steps < 0 and is_between else 0)
    position = recording.time_s(min(max(wanted, 0), recording.looks - 1))
    return placed(playback, Track(recording.duration_s), position)


def scrubbed(playback: Playback, reel: Reel, cells: int, columns: int) -> Playback:
    """So many cells of a time line of that many columns."""
    cell_s = reel.duration_s / max(columns, 1)
    return placed(playback, reel.track, playback.position + cells * cell_s)


def at_mark(playback: Playback, reel: Reel, direction: int) -> Playback:
    """At the next moment that has marks, or the one before; where there is none it stays."""
    places = [item.position for item in reel.marks]
    if direction > 0:
        found = min((place for place in places if place > playback.position), default=None)
    else:
        found = max((place for place in places if place < playback.position), default=None)
    return playback if found is None else placed(playback, reel.track, found)


def last_marks(reel: Reel, position: float) -> tuple[Placed, ...]:
    """The marks of what happened last, at or before the position: those that came close after each other."""
    passed = [item for item in reel.marks if item.position <= position]
    first = len(passed)
    while first > 0 and passed[-1].position - passed[first - 1].position <= TOGETHER_S:
        first -= 1
    return tuple(passed[first:])
