"""Reports 5, 9 and 29 of live monitors: how often is asked, how long one waits, what is told in which unit.

tests/probe/test_reports.py has the table of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fake_nvml.binding import FakeNvml, some_gpus
from fake_nvml.sweeper import Sweeper

from scaletui.commands.live import SHORTEST_S, interval_of
from scaletui.live.watcher import INTERVAL_OVER_SSH_S, INTERVAL_S, Watcher
from scaletui.text.glyphs import ASCII
from scaletui.view.box import Box
from scaletui.view.live_details import details_rows
from scaletui.view.pen import Pen
from scaletui_engine.live.driver.nvml_source import NvmlSource
from scaletui_engine.live.watch import PATIENCE_NS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scaletui.state.live import LiveState
    from scaletui_engine.live.snapshot import RankView

NVITOP_CALLS_A_SECOND = 1_656 / 17
"""Counted for eight GPUs by a stand-in for the driver."""

# 5


@pytest.mark.parametrize("asked_s", [0.05, 0.0999, 1e-9])
def test_nvtop_365_nvitop_17_a_shorter_interval_becomes_a_tenth_of_a_second_and_that_is_said(
    tmp_path: Path, asked_s: float
) -> None:
    interval_s, notice = interval_of(asked_s)
    assert interval_s == SHORTEST_S == 0.1
    assert f"--interval {asked_s}" in notice
    assert "every 0.1 s" in notice
    watcher = Watcher(str(tmp_path), asked_s, NvmlSource(lambda: FakeNvml([])))
    assert watcher._rings.polled.interval_s == 0.1
    watcher.close()


@pytest.mark.parametrize("asked_s", [0.1, 0.5, 30.0])
def test_nvitop_32_any_other_interval_is_taken_without_a_word(tmp_path: Path, asked_s: float) -> None:
    assert interval_of(asked_s) == (asked_s, "")
    watcher = Watcher(str(tmp_path), asked_s, NvmlSource(lambda: FakeNvml([])))
    assert watcher._rings.polled.interval_s == asked_s
    watcher.close()


@pytest.mark.parametrize("asked_s", [0.05, 0.1, 0.5, 1.0, 2.0])
def test_nvitop_63_65_however_often_one_looks_the_driver_is_asked_less_than_nvitop_asks_it(
    tmp_path: Path, asked_s: float
) -> None:
    nvml = FakeNvml(some_gpus(8))
    sweeper = Sweeper(nvml)
    sweeper.sweep(1)
    first = sum(nvml.calls.values())
    for second in range(2, 62):
        sweeper.sweep(second)
    calls_a_sweep = (sum(nvml.calls.values()) - first) / 60
    watcher = Watcher(str(tmp_path), asked_s, sweeper.source)
    assert calls_a_sweep / watcher._driver.polled.interval_s < 0.6 * NVITOP_CALLS_A_SECOND
    watcher.close()


# 9


def test_nvitop_106_one_look_and_the_wait_for_a_parent_are_shorter_than_three_seconds() -> None:
    """An end is seen at the next look; how it ended is waited for, as long as nobody has collected it."""
    assert max(INTERVAL_S, INTERVAL_OVER_SSH_S) * 1e9 + PATIENCE_NS < 3e9


# 29


def test_wandb_10464_5202_shares_stand_beside_bytes_and_bytes_have_their_unit(
    make_rank: Callable[..., RankView], make_state: Callable[..., LiveState]
) -> None:
    state = make_state(make_rank(0, gpu=True, host_rss=350 << 20))
    rows = [
        "".join(span.text for span in row).split() for row in details_rows(state, Box(60, 40), Pen(ASCII))
    ]
    told = {" ".join(words): words for words in rows}
    assert "resident memory 350.0 MiB" in told
    assert "room at the peak 33.0 GiB 59 % used" in told
    for line, words in told.items():
        if "%" in words:
            assert {"B", "KiB", "MiB", "GiB"} & set(words), line
