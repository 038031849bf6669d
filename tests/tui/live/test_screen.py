"""The live screen in an app, on rings that are written under its eyes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from live_rings import GIB, MadeUpJob, plan_of

from scaletui.app import ScaletuiApp
from scaletui.canvas import LineCanvas
from scaletui.live.messages import SnapshotArrived
from scaletui.messages import RowScrolled
from scaletui.options import ScreenOptions
from scaletui.screens.live import LiveScreen
from scaletui_engine.model import Arch
from scaletui_engine.plan import Strategy
from scaletui_engine.tensors import tensors
from scaletui_probe.process import start_ticks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

STATES = {"weights_host": 60, "gradients_host": 60, "optimizer_host": 124}
"""What either of two ranks holds of 10 rows of 3: 5 rows, two moments, a step."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def app(folder: Path) -> ScaletuiApp:
    return ScaletuiApp(ScreenOptions(mode="live", ring_dir=str(folder), ascii=True))


def shown(app: ScaletuiApp) -> str:
    """Everything that the screen's visible panes show."""
    panes = [pane for pane in app.screen.query(LineCanvas) if pane.display and pane.size.height]
    return "\n".join("".join(span.text for span in row) for pane in panes for row in pane.rows)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app run until something is so."""
    for _ in range(600):
        if condition():
            return
        await pilot.pause(0.05)
    pytest.fail(f"never came true:\n{shown(pilot.app)}")  # type: ignore[arg-type]


async def test_an_empty_folder_names_itself_and_the_way_to_start(app: ScaletuiApp, folder: Path) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "searched" in shown(app))
        assert "scaletui run -- torchrun" in shown(app)
        assert f"{folder}: 0 rings".replace(" ", "") in shown(app).replace(" ", "").replace("\n", "")


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (200, 50)], ids=str)
async def test_a_job_that_begins_while_the_screen_is_open(
    app: ScaletuiApp, folder: Path, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "searched" in shown(app))
        with MadeUpJob(folder) as job:
            job.plan()
            job.step(7, **STATES)
            await until(pilot, lambda: "step 7" in shown(app))
            await until(pilot, lambda: "y 0 B" in shown(app) and "not available: CPU job" in shown(app))
            assert "running" in shown(app)
            job.step(8, **STATES)
            await until(pilot, lambda: "step 8" in shown(app))


async def test_a_difference_is_shown_with_its_sign(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder) as job:
        job.plan()
        job.step(1, **{**STATES, "optimizer_host": 120})
        async with app.run_test(size=(120, 30)) as pilot:
            await until(pilot, lambda: "largest gap: optimizer -4 B" in shown(app))
            await until(pilot, lambda: "-4 B -3.2 %" in shown(app))
            assert "optimizer -4 B" in shown(app)


async def test_a_gpu_job_is_measured_against_its_device(app: ScaletuiApp, folder: Path) -> None:
    figures = {
        "allocated": 40 * GIB, "reserved": 50 * GIB, "active": 41 * GIB, "inactive_split": GIB,
        "allocated_peak_seen": 45 * GIB, "driver_free": 20 * GIB, "driver_total": 80 * GIB,
        "weights_device": 10 * GIB, "optimizer_device": 20 * GIB,
    }  # fmt: skip
    with MadeUpJob(folder, device_type="cuda", device_uuid="GPU-1") as job:
        job.step(1, **figures)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "40.0/50.0/80.0" in shown(app))
            assert "worst: rank 0, 25.0 GiB free" in shown(app)
            await until(pilot, lambda: "activations" in shown(app))


async def test_space_stops_the_picture(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder) as job:
        job.step(1, **STATES)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "step 1" in shown(app))
            await pilot.press("space")
            before = live(app).state.newest
            job.step(2, **STATES)
            await until(
                pilot,
                lambda: live(app).state.newest is not before and live(app).state.newest.jobs[0].step == 2,
            )
            assert "paused" in shown(app)
            assert "step 1" in shown(app)
            await pilot.press("space")
            await until(pilot, lambda: "step 2" in shown(app))


async def test_arrows_choose_rank_and_job(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder, job_id="a") as one, MadeUpJob(folder, 1, job_id="b", pid_start_ticks=1) as other:
        one.step(1, **STATES)
        other.step(2, **STATES)
        other.exit()
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "job 1 of 2" in shown(app))
            await pilot.press("down")
            await until(pilot, lambda: "- rank 1 " in shown(app))
            await pilot.press("right")
            assert "job 2 of 2" in shown(app)
            assert "step 2" in shown(app)


async def test_a_click_chooses_a_rank_and_the_wheel_walks(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder, 4) as job:
        job.step(1, **STATES)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "    3 WWW" in shown(app))
            await pilot.click("#live-ranks", offset=(10, 3))
            await until(pilot, lambda: live(app).state.rank == 2)
            live(app).on_row_scrolled(RowScrolled("live-ranks", 1))
            assert live(app).state.rank == 3


def live(app: ScaletuiApp) -> LiveScreen:
    screen = app.screen
    assert isinstance(screen, LiveScreen)
    return screen


async def test_a_hidden_screen_does_not_watch_and_watches_again(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder) as job:
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: live(app).state.shown is not None)
            screen = live(app)
            workers = [worker for worker in app.workers if worker.group == "live"]
            await pilot.press("1")
            await until(pilot, lambda: all(worker.is_finished for worker in workers))
            seen = screen.state.newest
            await pilot.pause(0.6)
            assert screen.state.newest is seen
            job.step(3, **STATES)
            await pilot.press("4")
            await until(pilot, lambda: "step 3" in shown(app))


async def test_a_thousand_snapshots_that_wait_are_one(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder) as job:
        job.step(1, **STATES)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: live(app).state.shown is not None)
            first, second = (SnapshotArrived(live(app).state.shown) for _ in range(2))
            assert second.can_replace(first)
            handled = []
            screen = live(app)
            screen.look = lambda state: handled.append(state)  # type: ignore[method-assign]
            for _ in range(1_000):
                screen.post_message(SnapshotArrived(screen.state.newest))
            await pilot.pause()
            assert len(handled) < 20


async def test_equal_snapshots_paint_nothing(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder) as job:
        job.step(1, **STATES)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "step 1" in shown(app))
            await pilot.press("space")
            await pilot.pause()
            painted = []
            for pane in app.screen.query(LineCanvas):
                pane.refresh = lambda *regions, **options: painted.append(regions)  # type: ignore[method-assign, misc]
            screen = live(app)
            screen.on_snapshot_arrived(SnapshotArrived(screen.state.newest))
            assert painted == []


async def test_keys_turn_the_pages_of_many_ranks(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder, 12) as job:
        job.plan()
        job.step(1, **STATES)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "ranks by headroom" in shown(app))
            await pilot.press("o")
            assert "ranks by number" in shown(app)
            await pilot.press("h")
            await until(pilot, lambda: "12 ranks, used at the peak" in shown(app))
            assert "ranks by number" not in shown(app)
            await pilot.press("m", "right", "right")
            assert live(app).state.rank == 2
            assert "held now" in shown(app)
            await pilot.click("#live-page", offset=(5, 1))
            assert live(app).state.rank == 0
            await pilot.press("enter")
            await until(pilot, lambda: "rank 0 of 12" in shown(app))
            await pilot.press("escape", "escape")
            await until(pilot, lambda: "ranks by number" in shown(app))


async def test_ranks_are_filtered_by_what_is_typed(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder, 12) as job:
        job.step(1, **STATES)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "ranks by headroom" in shown(app))
            await pilot.press("slash", *"3-5", "enter")
            await until(pilot, lambda: "3 of 12: 3-5" in shown(app))
            await pilot.press("escape")
            assert live(app).state.filter == ""


async def test_the_batch_is_told_and_another_text_is_refused(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder) as job:
        job.plan()
        job.step(1, **STATES)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "step 1" in shown(app))
            await pilot.press("i", *"2 x", "enter")
            await until(pilot, lambda: "two whole numbers" in shown(app))
            await pilot.press("i", *"2 64", "enter")
            assert live(app).state.batches[0][1].seq == 64
            await pilot.press("b")
            await until(pilot, lambda: "what would make this job need less" in shown(app))
            assert "its parameters are those of no model" in shown(app)
            assert "esc leave" in shown(app)
            await pilot.press("escape")
            await until(pilot, lambda: "ranks by headroom" in shown(app))


def llama(rank: int, ranks: int) -> dict[str, Any]:
    """The plan of a small Llama, FSDP2 over the ranks."""
    document = plan_of(rank, ranks)
    columns, (row,) = document["parameter_columns"], document["parameters"]
    cells = dict(zip(columns, row, strict=True))
    rows = [
        {**cells, "name": tensor.name.format(layer=layer), "shape": list(tensor.shape)}
        for tensor in tensors(Arch(2, 256, 2, 1, 128, 512, 1_000))
        for layer in (tensor.layers if tensor.layers is not None else (None,))
    ]
    document["parameters"] = [[cells[name] for name in columns] for cells in rows]
    return {**document, "parameters_total": len(rows)}


async def test_a_job_opens_as_a_scenario_in_budget(app: ScaletuiApp, folder: Path) -> None:
    with MadeUpJob(folder) as job:
        for rank, ring in enumerate(job.rings):
            ring.put_plan(llama(rank, 2))
        job.step(1, **STATES)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "step 1" in shown(app))
            await pilot.press("f")
            await until(pilot, lambda: "micro-batch and sequence are not known" in shown(app))
            await pilot.press("i", *"2 64", "enter")
            await until(pilot, lambda: "predicted at the peak" in shown(app))
            await pilot.press("b")
            await until(pilot, lambda: app.screen.MODE == "budget")  # type: ignore[attr-defined]
            plan = app.editing.scenario.plan
            assert (plan.micro_batch, plan.seq, plan.strategy, plan.axes.dp_shard) == (
                2,
                64,
                Strategy.FSDP,
                2,
            )
            assert app.editing.can_undo


async def test_the_rank_of_the_process_that_was_named_is_looked_at(folder: Path) -> None:
    named = {"job_id": "named", "pid": os.getppid(), "pid_start_ticks": start_ticks(os.getppid())}
    process = (named["pid"], named["pid_start_ticks"])
    app = ScaletuiApp(ScreenOptions(mode="live", ring_dir=str(folder), ascii=True, process=process))
    with MadeUpJob(folder, **named), MadeUpJob(folder, 3, job_id="newer"):
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "job 2 of 2" in shown(app))
            assert live(app).state.job == "named"


async def test_why_a_recording_stopped_is_told_at_once_and_on_every_screen(folder: Path) -> None:
    told = [""]
    app = ScaletuiApp(
        ScreenOptions(mode="live", ring_dir=str(folder), ascii=True, notice="on", stopped=lambda: told[0])
    )
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: "searched" in shown(app))
        told[0] = "the recording stopped early: No space left on device"
        await until(pilot, lambda: shown(app).count(told[0]) == 2)
        await pilot.press("1")
        await until(pilot, lambda: app.current_mode == "budget" and app.screen.is_mounted)
        await pilot.pause()
        assert told[0] in shown(app)
