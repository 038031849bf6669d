"""The report of `scaletui live --once` in fewer columns than a screen has: it wraps, and cuts no figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from live_rings import GIB, MadeUpJob, record

from scaletui.cli import main
from scaletui.view.cells import width_of
from scaletui_probe.layout import Event, Kind

if TYPE_CHECKING:
    from pathlib import Path

STATES = {
    "weights_device": 16_060_522_496, "gradients_device": 16_060_522_496, "optimizer_device": 64_242_089_984,
    "allocated": 60 * GIB, "reserved": 70 * GIB, "active": 61 * GIB, "allocated_peak": 66 * GIB,
    "driver_free": 6 * GIB, "driver_total": 80 * GIB, "inactive_split": GIB,
}  # fmt: skip
FIGURES = (
    "16,060,522,496",
    "64,242,089,984",
    "60.0/70.0/80.0",
    "4,812",
    "rank 0",
    "gradients are not sharded",
)


@pytest.mark.parametrize("columns", range(40, 60, 3))
@pytest.mark.parametrize("options", [(), ("--ascii",)], ids=str)
def test_every_figure_is_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    columns: int,
    options: tuple[str, ...],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with MadeUpJob(tmp_path / "rings", 3, device_index=0, device_type="cuda") as job:
        job.plan()
        job.step(4_812, **STATES)
        job.rings[2].put(record(Kind.EVENT, STATES, Event.OOM))
        assert main(["live", "--once", *options, "--dir", str(tmp_path / "rings")]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert max(map(width_of, lines)) <= columns
    flowing = " ".join(" ".join(lines).split())
    assert [figure for figure in FIGURES if figure not in flowing] == []
    assert "…" not in text
    path = "".join(lines[-4:]).replace(" ", "")
    assert str(tmp_path / "rings") in path
