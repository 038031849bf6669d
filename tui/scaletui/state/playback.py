"""The clock of a simulated timeline: where it stands, how fast it goes, whether it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

SPEEDS: Final = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
"""Multiples of one typical forward pass a second."""


@dataclass(frozen=True, slots=True)
class Track:
    """What is played, in the unit of its timeline."""

    end: float
    unit: float = 1.0
    """What passes in a second at speed 1: a typical forward pass."""


@dataclass(frozen=True, slots=True)
class Playback:
    """Nothing here asks what time it is: time that has passed is handed in."""

    position: float = 0.0
    speed: float = 1.0
    playing: bool = False


def advanced(playback: Playback, track: Track, passed_s: float) -> Playback:
    """The playback after some seconds; it stops at the end of the track."""
    if not playback.playing or passed_s <= 0:
        return playback
    position = playback.position + passed_s * playback.speed * track.unit
    return replace(playback, position=min(position, track.end), playing=position < track.end)


def toggled(playback: Playback, track: Track) -> Playback:
    """Paused, or playing; from the end it plays from the start again."""
    if playback.playing:
        return paused(playback)
    start = 0.0 if playback.position >= track.end else playback.position
    return replace(playback, position=start, playing=track.end > 0)


def paused(playback: Playback) -> Playback:
    """Standing where it is."""
    return replace(playback, playing=False) if playback.playing else playback


def placed(playback: Playback, track: Track, position: float) -> Playback:
    """Standing somewhere on the track: a hand on it stops it."""
    return replace(playback, position=min(max(position, 0.0), track.end), playing=False)


def carried(playback: Playback, old: Track, new: Track) -> Playback:
    """At the same fraction of another track."""
    share = playback.position / old.end if old.end > 0 else 0.0
    return replace(playback, position=share * new.end)


def hastened(playback: Playback, steps: int) -> Playback:
    """That many speeds up, or down below 0; the list ends at its ends."""
    place = SPEEDS.index(playback.speed) if playback.speed in SPEEDS else SPEEDS.index(1.0)
    return replace(playback, speed=SPEEDS[min(max(place + steps, 0), len(SPEEDS) - 1)])
