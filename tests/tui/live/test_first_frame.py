"""What stands on the terminal before the library behind the screen is loaded."""

from __future__ import annotations

import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from live_rings import MadeUpJob
from terminal.pseudo_terminal import PseudoTerminal, Setup, frames
from terminal.screen import Screen

from scaletui.state.live import LiveState
from scaletui.text.glyphs import UNICODE
from scaletui.text.numbers import numbers_for
from scaletui.view.box import Box
from scaletui.view.first_frame import first_rows, painted
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.live.discovery import Place
from scaletui_engine.live.snapshot import Moment, Snapshot
from scaletui_themes import load_palette, theme_ids

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import RankView

PEN = Pen(UNICODE, numbers_for("en"))
SIZES = [(60, 18), (80, 24), (120, 40), (200, 50)]


@pytest.fixture
def rows(make_state: Callable[..., LiveState], make_rank: Callable[..., RankView]) -> tuple[Row, ...]:
    ranks = [make_rank(rank, gpu=True) for rank in range(8)]
    return first_rows(make_state(*ranks), Box(80, 24), PEN)


@pytest.mark.parametrize(("columns", "lines"), SIZES)
def test_it_fits_and_shows_every_rank(
    make_state: Callable[..., LiveState], make_rank: Callable[..., RankView], columns: int, lines: int
) -> None:
    state = make_state(*[make_rank(rank, gpu=True) for rank in range(4)])
    rows = first_rows(state, Box(columns, lines), PEN)
    assert len(rows) <= lines
    assert max(map(row_width, rows)) <= columns
    text = ["".join(span.text for span in row) for row in rows]
    assert all(any(re.match(rf"[^a-z]*\b{rank} W", line) for line in text) for rank in range(4))


def test_without_a_job_it_says_where_it_looked() -> None:
    shown = Snapshot(Moment(0, 0), (), (Place("/tmp/rings", rings=0),), ())
    rows = first_rows(LiveState(shown=shown, newest=shown), Box(80, 24), PEN)
    assert any("/tmp/rings" in span.text for row in rows for span in row)


@pytest.mark.parametrize("theme", theme_ids())
@pytest.mark.parametrize("hues", [True, False])
def test_painted_rows_read_as_the_rows_in_every_theme(rows: tuple[Row, ...], theme: str, hues: bool) -> None:
    text = painted(rows, load_palette(theme), hues=hues)
    screen = Screen(80, 24).feed(text.encode())
    wanted = ["".join(span.text for span in row).rstrip() for row in rows]
    assert [line.rstrip() for line in screen.lines[: len(rows)]] == wanted
    assert ("38;2;" in text) is (hues and not load_palette(theme).ansi and not load_palette(theme).mono)
    assert max(map(len, frames(text.encode()))) <= 4096


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50)])
def test_the_screen_takes_over_what_stands_there(tmp_path: Path, columns: int, lines: int) -> None:
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    command = [sys.executable, "-m", "scaletui", "live", "--dir", str(folder)]
    with MadeUpJob(folder, 4) as job, PseudoTerminal(command, Setup(columns, lines)) as terminal:
        job.plan()
        job.step(1, weights_host=60)
        terminal.wait_for("ranks by")
        first = terminal.screen().lines
        assert "? help" not in "".join(first)
        terminal.wait_for("? help")
        place = next(number for number, line in enumerate(first) if line.startswith("─ ranks by"))
        kept = first[place][:50]
        terminal.wait_until(lambda: terminal.screen().lines[place][:50] == kept, "the same line again")


def test_a_signal_before_the_screen_is_there_restores_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    command = [sys.executable, "-m", "scaletui", "live", "--dir", str(folder)]
    with PseudoTerminal(command) as terminal:
        terminal.wait_for("searched")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_exit() == 128 + signal.SIGTERM
        assert terminal.is_restored()


def test_a_theme_that_does_not_exist_is_one_line_on_the_screen_that_was_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scaletui", "--theme", "neon", "live", "--dir", str(tmp_path)]
    with PseudoTerminal(command) as terminal:
        assert terminal.wait_exit() == 2
        assert terminal.is_restored()
