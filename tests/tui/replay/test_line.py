"""The time line: where it is, what happened, and letters that need no colour."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from looks import Story, looks

from scaletui.state.playback import Playback
from scaletui.state.replay import Placed, Reel, reel_of
from scaletui.text.glyphs import ASCII, UNICODE
from scaletui.text.language import set_language
from scaletui.text.numbers import numbers_for
from scaletui.view.pen import Pen
from scaletui.view.replay_line import (
    LETTERS,
    clock_text,
    column_position,
    line_rows,
    short_text,
    told,
    track_row,
)
from scaletui.view.row import row_width
from scaletui_engine.live.recording.marks import Mark, MarkKind

if TYPE_CHECKING:
    from scaletui_engine.live.recording.reader import Recording

PEN = Pen(ASCII, numbers_for("en"))


def text(row: tuple) -> str:
    return "".join(span.text for span in row)


def mark(kind: MarkKind, rank: int | None = None, word: str = "", position: float = 5.0) -> Placed:
    return Placed(position, Mark(0, 0, "job", rank, kind, word))


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("position", [0.0, 9.9, 10.0, 19.5])
def test_rows_are_as_wide_as_asked(recording: Recording, width: int, position: float) -> None:
    for pen in (PEN, Pen(UNICODE, numbers_for("en"))):
        rows = line_rows(reel_of(recording), Playback(position), width, pen)
        assert [row_width(row) for row in rows] == [width, width]


def test_words_before_and_after_the_event(recording: Recording) -> None:
    reel = reel_of(recording)
    before, track = line_rows(reel, Playback(4.0, speed=2.0, playing=True), 80, PEN)
    assert text(before).startswith("- > x2  0:04 of 0:19  20:26:44 UTC ---")
    assert text(line_rows(reel, Playback(4.0), 60, PEN)[0]).startswith("- || x1  0:04 of 0:19 ---")
    assert text(before).endswith("---")
    assert text(track)[1 + round(10.0 / 19.5 * 77)] == "K"
    after, _ = line_rows(reel, Playback(13.0), 80, PEN)
    assert "|| x1  0:13 of 0:19" in text(after)
    assert text(after).endswith(" rank 0: out of memory, 3 s ago -")


def test_the_playhead_is_the_one_reversed_cell(recording: Recording) -> None:
    reel = reel_of(recording)
    for position, column in ((0.0, 1), (19.5, 78)):
        spans = track_row(reel, Playback(position), 80, PEN)
        start = 0
        for span in spans:
            if span.role == "cursor":
                assert (start, len(span.text)) == (column, 1)
            start += len(span.text)
        assert [span.role for span in spans].count("cursor") == 1


def test_a_column_is_a_time_and_back(recording: Recording) -> None:
    reel = reel_of(recording)
    assert column_position(reel, 0, 80) == column_position(reel, 1, 80) == 0.0
    assert column_position(reel, 78, 80) == column_position(reel, 200, 80) == reel.duration_s


def test_every_kind_has_a_letter_of_its_own() -> None:
    assert set(LETTERS) == set(MarkKind)
    assert len({letter for letter, _ in LETTERS.values()}) == len(MarkKind)


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ([mark(MarkKind.START)], "job started"),
        ([mark(MarkKind.EXIT, 1), mark(MarkKind.EXIT, 0)], "ranks 0, 1 ended in order"),
        ([mark(MarkKind.EXCEPTION, 3, "KeyError")], "rank 3 failed: KeyError"),
        ([mark(MarkKind.OUT_OF_MEMORY, 3)], "rank 3 out of memory"),
        ([mark(MarkKind.DEATH, 1, "lost a peer"), mark(MarkKind.DEATH, 2, "killed")], "rank 2: killed"),
        ([mark(MarkKind.RETRY, 0), mark(MarkKind.RESTART, None, "1")], "job started again"),
    ],
)  # fmt: skip
def test_what_happened_last_is_told_by_its_worst(marks: list[Placed], said: str) -> None:
    assert told(marks) == said


def test_portuguese() -> None:
    set_language("pt-BR")
    assert told([mark(MarkKind.DEATH, 2, "killed")]) == "rank 2: morto por kill"
    set_language("en")


def test_a_torn_end_is_told() -> None:
    reel = Reel(10.0, 0, (), is_damaged=True)
    assert "the file ends in a torn look" in text(line_rows(reel, Playback(), 80, PEN)[0])


@pytest.mark.parametrize(("seconds", "said"), [(0, "0:00"), (59.9, "0:59"), (61, "1:01"), (3_725, "1:02:05")])
def test_clocks(seconds: float, said: str) -> None:
    assert clock_text(seconds) == said


def test_a_recording_of_one_look_has_a_line() -> None:
    rows = line_rows(Reel(0.0, 0, (mark(MarkKind.EXIT, 0, position=0.0),)), Playback(), 60, PEN)
    assert [row_width(row) for row in rows] == [60, 60]


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        (2, ""),
        (256, ""),
        (300, "300 ranks: curves of the last 204 steps"),
        (4_096, "4096 ranks: curves of the last 32 steps"),
    ],
)
def test_short_curves_are_said(ranks: int, said: str) -> None:
    (look,) = looks(Story(2), 1)
    job = replace(look.jobs[0], ranks=look.jobs[0].ranks[:1] * ranks)
    assert short_text(replace(look, jobs=(job,))) == said
    assert short_text(None) == ""
