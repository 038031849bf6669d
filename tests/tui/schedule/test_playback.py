"""The clock: only time that is handed in moves it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaletui.state.playback import (
    SPEEDS,
    Playback,
    Track,
    advanced,
    carried,
    hastened,
    paused,
    placed,
    toggled,
)

TRACK = Track(33.0, 1.0)


@pytest.mark.parametrize(
    ("playback", "track", "passed_s", "expected"),
    [
        pytest.param(Playback(0, 1, True), TRACK, 0.5, Playback(0.5, 1, True), id="one unit a second"),
        pytest.param(Playback(3, 4, True), TRACK, 0.5, Playback(5, 4, True), id="four times as fast"),
        pytest.param(Playback(0, 1, True), Track(2, 0.25), 1, Playback(0.25, 1, True), id="a unit of 0.25 s"),
        pytest.param(Playback(32.9, 1, True), TRACK, 1, Playback(33, 1, False), id="stops at the end"),
        pytest.param(Playback(3, 1, False), TRACK, 1, Playback(3, 1, False), id="paused"),
        pytest.param(Playback(3, 1, True), TRACK, -1, Playback(3, 1, True), id="a clock set back"),
    ],
)
def test_time_passes(playback: Playback, track: Track, passed_s: float, expected: Playback) -> None:
    assert advanced(playback, track, passed_s) == expected


@given(st.lists(st.floats(0, 2), max_size=20), st.sampled_from(SPEEDS))
def test_many_ticks_go_as_far_as_one(ticks: list[float], speed: float) -> None:
    playback = Playback(0.0, speed, True)
    for passed_s in ticks:
        playback = advanced(playback, Track(1e6), passed_s)
    assert playback.position == pytest.approx(sum(ticks) * speed, abs=1e-9)


def test_playing_from_the_end_starts_over() -> None:
    assert toggled(Playback(33, 2), TRACK) == Playback(0, 2, True)
    assert toggled(Playback(5, 2), TRACK) == Playback(5, 2, True)
    assert toggled(Playback(5, 2, True), TRACK) == Playback(5, 2)
    assert not toggled(Playback(), Track(0)).playing


@pytest.mark.parametrize(("wanted", "position"), [(7, 7), (-1, 0), (40, 33)])
def test_a_hand_on_the_playhead_stops_it(wanted: float, position: float) -> None:
    assert placed(Playback(3, 1, True), TRACK, wanted) == Playback(position, 1, False)


def test_another_track_is_entered_at_the_same_fraction() -> None:
    assert carried(Playback(11), TRACK, Track(3.0)).position == pytest.approx(1.0)
    assert carried(Playback(0), Track(0), Track(3)).position == 0


@pytest.mark.parametrize(
    ("speed", "steps", "expected"), [(1, 1, 2), (1, -1, 0.5), (128, 1, 128), (0.125, -1, 0.125)]
)
def test_speeds_end_at_their_ends(speed: float, steps: int, expected: float) -> None:
    assert hastened(Playback(speed=speed), steps).speed == expected


def test_a_paused_clock_is_the_same_value() -> None:
    playback = Playback(3)
    assert paused(playback) is playback
