"""Steps from look to look, cells of the time line, and moments at which something happened."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from looks import Story, looks

from scaletui.state.playback import Playback
from scaletui.state.replay import at_mark, last_marks, opened, reel_of, scrubbed, stepped
from scaletui_engine.live.recording.reader import Recording
from scaletui_engine.live.recording.writer import Recorder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("idle", "opens"), [(0, 0.0), (1, 0.5), (4, 2.0), (6, 0.0)])
def test_it_opens_where_there_is_a_job(tmp_path: Path, idle: int, opens: float) -> None:
    """Of six looks some find no job; where none does it opens at its start."""
    recorder = Recorder(str(tmp_path / "late.rec"))
    for number, look in enumerate(looks(Story(), 6)):
        recorder.take(replace(look, jobs=()) if number < idle else look)
    recorder.close()
    with Recording(recorder.path) as recording:
        place = opened(recording, reel_of(recording))
        assert (place.position, place.playing) == (opens, False)
        assert bool(recording.look(recording.number_at(place.position)).jobs) is (idle < 6)


@pytest.mark.parametrize(
    ("position", "steps", "expected"),
    [
        (0.0, 1, 0.5), (0.0, -1, 0.0), (0.5, -1, 0.0), (0.7, 1, 1.0), (0.7, -1, 0.5), (19.5, 1, 19.5),
        (19.4, 1, 19.5), (3.0, 4, 5.0),
    ],
)  # fmt: skip
def test_a_step_is_a_look(recording: Recording, position: float, steps: int, expected: float) -> None:
    moved = stepped(Playback(position, playing=True), recording, steps)
    assert (moved.position, moved.playing) == (expected, False)


def test_a_scrub_is_a_cell(recording: Recording) -> None:
    reel = reel_of(recording)
    assert scrubbed(Playback(0.0), reel, 1, 39).position == pytest.approx(0.5)
    assert scrubbed(Playback(1.0), reel, -3, 39).position == 0.0
    assert scrubbed(Playback(19.4), reel, 2, 39).position == 19.5


def test_marks_lie_where_they_happened(recording: Recording) -> None:
    reel = reel_of(recording)
    assert {item.position for item in reel.marks} == {10.0}
    assert at_mark(Playback(0.0), reel, 1).position == 10.0
    assert at_mark(Playback(15.0), reel, -1).position == 10.0
    for stays, direction in ((Playback(10.0), 1), (Playback(10.0), -1)):
        assert at_mark(stays, reel, direction) is stays


def test_the_last_marks_are_those_that_are_past(recording: Recording) -> None:
    reel = reel_of(recording)
    assert last_marks(reel, 9.99) == ()
    assert last_marks(reel, 10.0) == last_marks(reel, 19.0) == reel.marks
