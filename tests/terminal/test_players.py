"""The players on a real terminal: bytes of every frame while time runs, and none while it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from terminal.pseudo_terminal import Setup, frames

if TYPE_CHECKING:
    from collections.abc import Callable

    from terminal.conftest import Start
    from terminal.pseudo_terminal import PseudoTerminal

PLAYERS = {
    "collective, 8 ranks": (b"c", "step 0 of", b""),
    "collective, 64 ranks": (b"cnnnnnn", "step 0 of", b"++"),
    "one step": (b"s", "this moment with every strategy", b"++"),
}
"""Keys that open a player, what it shows when it stands, and keys that hasten it."""


@pytest.fixture
def open_player(start_app: Start) -> Callable[..., PseudoTerminal]:
    """A player over the sharding screen of Llama 3 8B on 8 GPUs."""

    def start(player: str, setup: Setup) -> PseudoTerminal:
        keys, words, _ = PLAYERS[player]
        options = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "8")
        terminal = start_app("sharding", *options, setup=setup)
        terminal.send(keys[:1])
        terminal.wait_for(words)
        terminal.send(keys[1:])
        terminal.wait_quiet(1.5)
        return terminal

    return start


@pytest.mark.parametrize(("columns", "rows", "budget"), [(80, 24, 4096), (200, 50, 8192)])
@pytest.mark.parametrize("player", list(PLAYERS))
def test_a_frame_of_a_running_player(
    open_player: Callable[..., PseudoTerminal], player: str, columns: int, rows: int, budget: int
) -> None:
    terminal = open_player(player, Setup(columns, rows))
    terminal.send(PLAYERS[player][2])
    terminal.wait_quiet(0.5)
    mark = terminal.send(b" ")
    terminal.wait_until(lambda: len(frames(terminal.since(mark))) >= 25, "25 frames")
    assert max(map(len, frames(terminal.since(mark))[2:])) <= budget


@pytest.mark.parametrize("stop", [b" ", b"2"], ids=["paused", "another screen"])
@pytest.mark.parametrize("player", ["collective, 8 ranks", "one step"])
def test_nothing_is_written_once_time_stands(
    open_player: Callable[..., PseudoTerminal], player: str, stop: bytes
) -> None:
    terminal = open_player(player, Setup())
    mark = terminal.send(b" ")
    terminal.wait_until(lambda: len(frames(terminal.since(mark))) >= 5, "frames")
    terminal.send(stop)
    terminal.wait_quiet(1.5)
    assert terminal.bytes_during(2) == 0


@pytest.mark.parametrize("player", ["collective, 8 ranks", "one step"])
def test_reduced_motion_has_no_clock(open_player: Callable[..., PseudoTerminal], player: str) -> None:
    terminal = open_player(player, Setup(environment={"TEXTUAL_ANIMATIONS": "none"}))
    terminal.send(b" ")
    terminal.wait_for("reduced motion")
    terminal.wait_quiet(1.0)
    assert terminal.bytes_during(2) == 0


def test_frames_come_no_faster_than_asked(start_app: Start) -> None:
    """At 2 frames a second the clock still keeps time: steps are left out, not late."""
    options = ("--model", "llama3-8b", "--gpu", "h100-sxm", "--gpus", "8", "--fps", "2")
    terminal = start_app("sharding", *options)
    terminal.send(b"c")
    terminal.wait_for("step 0 of 7")
    terminal.wait_quiet(1.0)
    terminal.send(b"++")
    mark = terminal.send(b" ")
    terminal.wait_for("step 7 of 7")
    terminal.wait_quiet(1.0)
    assert len(frames(terminal.since(mark))) < 20
