"""Whatever stands in a ring, every pane of the live screen is drawn, in its box."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from live_images import damaged, full_ring

from scaletui.state.live import LiveState, arrived
from scaletui.state.live import rank as chosen
from scaletui.text.glyphs import ASCII
from scaletui.view.black_box import black_box_rows
from scaletui.view.box import Box
from scaletui.view.first_frame import first_rows
from scaletui.view.live_fit import fit_rows
from scaletui.view.live_forecast import forecast_rows
from scaletui.view.live_heat import heat_rows
from scaletui.view.live_rank import rank_rows
from scaletui.view.live_report import report_rows
from scaletui.view.live_suspects import suspect_lines
from scaletui.view.live_trend import trend_rows
from scaletui.view.live_wave import wave_rows
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.live.process import Host
from scaletui_engine.live.ring_source import RingSource
from scaletui_engine.live.snapshot import Moment
from scaletui_engine.live.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import Snapshot

FUZZED = 500
HOST = Host("boot-a", "node-a")
BOX, PEN = Box(80, 24), Pen(ASCII)


def looks(folder: Path) -> Iterator[Snapshot]:
    """A first look at each of many damaged rings."""
    dice, ring = random.Random(7), full_ring()
    for number in range(FUZZED):
        (folder / "r.ring").write_bytes(damaged(dice, ring))
        source, moment = RingSource(str(folder), HOST), Moment(number * 10**7, number * 10**7)
        yield Store(HOST).take(source.poll(moment), moment)
        source.close()


def drawn(state: LiveState) -> Iterator[Row]:
    """All rows that there are to draw."""
    yield from first_rows(state, BOX, PEN)
    for draw in (black_box_rows, fit_rows, heat_rows, rank_rows, trend_rows):
        yield from draw(state, BOX, PEN)
    rank = chosen(state)
    if rank is not None:
        yield from forecast_rows(rank, BOX.width, PEN)
        yield from wave_rows(rank, BOX, PEN)


def test_five_hundred_fuzzed_rings_are_drawn_whatever_they_hold(tmp_path: Path) -> None:
    """By one screen that lives on, as a person has one, and as a plain report."""
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    state, with_jobs = LiveState(), 0
    for snapshot in looks(folder):
        state = arrived(state, snapshot)
        rows = [*drawn(state), *report_rows(snapshot, BOX.width, PEN)]
        assert max(map(row_width, rows)) <= BOX.width
        rank = chosen(state)
        words = [] if rank is None else [*suspect_lines(rank, PEN)]
        assert all("".join(span.text for span in row).isprintable() for row in rows)
        assert all(map(str.isprintable, words))
        with_jobs += bool(snapshot.jobs)
    assert with_jobs > FUZZED // 4
