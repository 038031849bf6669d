"""However scaletui is ended, the terminal is left as it was found."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from terminal.pseudo_terminal import Setup

if TYPE_CHECKING:
    from terminal.conftest import Start


@pytest.mark.parametrize(
    ("mode", "key"),
    [("budget", b"q"), ("budget", b"\x03"), ("live", b"q")],
    ids=["budget-q", "budget-ctrl-c", "live-q"],
)
def test_a_key(start_app: Start, mode: str, key: bytes) -> None:
    terminal = start_app(mode)
    terminal.send(key)
    assert terminal.wait_exit() == 0
    assert terminal.is_restored()


@pytest.mark.parametrize(
    ("mode", "number"),
    [
        ("budget", signal.SIGTERM),
        ("budget", signal.SIGINT),
        ("budget", signal.SIGHUP),
        ("live", signal.SIGTERM),
    ],
)
def test_a_signal(start_app: Start, mode: str, number: signal.Signals) -> None:
    terminal = start_app(mode)
    terminal.process.send_signal(number)
    assert terminal.wait_exit() == 128 + number
    assert terminal.is_restored()


def test_an_input_that_ends(start_app: Start) -> None:
    terminal = start_app("budget", setup=Setup(has_own_input=True))
    terminal.end_input()
    assert terminal.wait_exit() > 0
    assert terminal.is_restored()


@pytest.mark.parametrize("mode", ["budget", "live"])
def test_a_terminal_that_goes_away(start_app: Start, mode: str) -> None:
    terminal = start_app(mode)
    terminal.hang_up()
    assert terminal.wait_exit() != 0
