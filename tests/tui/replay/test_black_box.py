"""The black box as rows: nothing of a job that is well, and no row wider or more than there is room for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from live_rings import GIB, MadeUpJob, record
from looks import Story, looks

from scaletui.cli import main
from scaletui.state.live import LiveState
from scaletui.text.glyphs import ASCII
from scaletui.text.numbers import numbers_for
from scaletui.view.black_box import black_box_height, black_box_rows
from scaletui.view.black_box_words import ending_text
from scaletui.view.box import Box
from scaletui.view.pen import Pen
from scaletui.view.row import row_width
from scaletui_engine.live.evidence import RankState, Verdict, What
from scaletui_engine.live.post_mortem import Departure
from scaletui_probe.layout import Event, Kind

if TYPE_CHECKING:
    from pathlib import Path

    from scaletui_engine.live.snapshot import RankView

PEN = Pen(ASCII, numbers_for("en"))


def state(ranks: int, fails_at: int | None) -> LiveState:
    *_, last = looks(Story(ranks, fails_at=fails_at), 10)
    return LiveState(shown=last, newest=last)


def text(rows: tuple) -> str:
    return "\n".join("".join(span.text for span in row) for row in rows)


def a_rank() -> RankView:
    return state(1, None).shown.jobs[0].ranks[0]  # type: ignore[union-attr]


def test_a_job_that_is_well_has_none() -> None:
    assert black_box_rows(state(2, None), Box(80, 20), PEN) == ()
    assert black_box_height(state(2, None), 80, PEN) == 0
    assert black_box_rows(LiveState(), Box(80, 20), PEN) == ()


def test_a_job_without_memory_tells_everything() -> None:
    rows = black_box_rows(state(2, 9), Box(80, 20), PEN)
    assert len(rows) == black_box_height(state(2, 9), 80, PEN)
    said = text(rows)
    assert "- how it ended -" in said
    assert " 1  rank 0  step 9  20:26:44 UTC  out of memory: OutOfMemoryError" in said
    assert "    rank 1  step 9  +0.0 s        RuntimeError, when a peer had gone" in said
    assert "rank 0 asked for 2.0 GiB with 1.0 GiB left on its GPU. It held: weights" in said
    assert "Last steps of rank 0: 5: 0." in said


def test_steps_that_were_not_all_seen_are_called_samples() -> None:
    found = state(2, 9)
    assert found.shown is not None
    (job,) = found.shown.jobs
    ranks = tuple(replace(rank, history=rank.history[::3]) for rank in job.ranks)
    shown = replace(found.shown, jobs=(replace(job, ranks=ranks),))
    said = text(black_box_rows(replace(found, shown=shown), Box(80, 20), PEN))
    steps = [point.step for point in ranks[0].history]
    assert [after - before for before, after in pairwise(steps)] == [3] * (len(steps) - 1)
    assert f"Last samples of rank 0, step and time: {steps[0]}: 0." in said


def test_a_folder_of_rings_that_a_job_without_memory_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written by the probe's own writer in the name of a process that has gone."""
    folder = tmp_path / "rings"
    folder.mkdir(mode=0o700)
    held = {
        "weights_device": 10 * GIB,
        "optimizer_device": 20 * GIB,
        "allocated": 79 * GIB,
        "active": 79 * GIB,
    }
    with MadeUpJob(folder, pid_start_ticks=1, device_type="cuda", device_uuid="GPU-1") as job:
        job.plan()
        job.step(
            7, gradients_device=10 * GIB, reserved=79 * GIB, driver_free=GIB, driver_total=80 * GIB, **held
        )
        oom = record(Kind.EVENT, {**held, "step": 7}, Event.OOM)
        job.rings[1].put(oom._replace(event_values=(2 * GIB, GIB)))
        raised = record(Kind.EVENT, {**held, "step": 7}, Event.EXCEPTION)
        job.rings[1].put(raised._replace(text="OutOfMemoryError"))
    assert main(["live", "--once", "--dir", str(folder)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 rank 1 step 7" in said
    assert "out of memory: OutOfMemoryError" in said
    assert "rank 1 asked for 2.0 GiB with 1.0 GiB left on its GPU." in said
    assert "It held: weights 10.0 GiB, optimizer 20.0 GiB, activations and temporaries 49.0 GiB." in said
    assert "Last steps of rank 1: 7: 0.400 s; memory 79.0 GiB" in said


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("height", [0, 1, 2, 5, 8, 40])
@pytest.mark.parametrize("ranks", [1, 8, 64])
def test_it_stays_in_its_box(width: int, height: int, ranks: int) -> None:
    rows = black_box_rows(state(ranks, 9), Box(width, height), PEN)
    assert len(rows) <= height
    assert {row_width(row) for row in rows} <= {width}


def test_ranks_that_do_not_fit_are_counted() -> None:
    rows = black_box_rows(state(8, 9), Box(80, 10), PEN)
    assert "ranks more" in text(rows)
    assert "rank 0" in text(rows)


@pytest.mark.parametrize(
    ("what", "detail", "said"),
    [
        (What.KILLED, "SIGKILL", "SIGKILL: the system's OOM killer or somebody"),
        (What.KILLED, "SIGSEGV", "ended by SIGSEGV, from outside or its own"),
        (What.KILLED, "", "gone without a word: killed, or os._exit"),
        (What.KILLED_OR_ENDED, "", "no word: killed, or ended by its launcher"),
        (What.EXIT_CODE, "7", "left with code 7, without a word"),
        (What.EXCEPTION, "KeyError", "KeyError, which nobody caught"),
        (What.FINISHED, "", "ended in order"),
    ],
)
def test_no_more_is_claimed_than_is_known(what: What, detail: str, said: str) -> None:
    rank = replace(a_rank(), verdict=Verdict(RankState.EXITED, what, detail))
    assert ending_text(Departure(rank, 0, told=False, follows=False)) == said
    assert len(said) <= 46


def test_the_first_to_fall_is_told_where_there_is_room_for_one() -> None:
    found = state(6, 9)
    below = black_box_height(found, 80, PEN) - 7
    rows = text(black_box_rows(found, Box(80, below + 2), PEN)).splitlines()
    assert "- how it ended, 5 ranks more -" in rows[0]
    assert " 1  rank 0  step 9 " in rows[1]
    assert "    4 ranks more" in text(black_box_rows(found, Box(80, below + 4), PEN)).splitlines()[3]
