"""The schedule screen in an app: keys in, rows out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.app import ScaletuiApp
from scaletui.canvas import LineCanvas
from scaletui.options import ScreenOptions
from scaletui.screens.schedule import ScheduleScreen
from scaletui.screens.schedule_table import TableScreen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from scaletui_engine.scenario import Scenario

    MakeApp = Callable[..., ScaletuiApp]


@pytest.fixture
def make_app(tmp_path: Path, scenario: Callable[..., Scenario]) -> MakeApp:
    def make(*shape: object, **options: object) -> ScaletuiApp:
        return ScaletuiApp(
            ScreenOptions(mode="schedule", scenario=scenario(*shape), ring_dir=str(tmp_path), **options)  # type: ignore[arg-type]
        )

    return make


def shown(app: ScaletuiApp) -> str:
    panes = [pane for pane in app.screen.query(LineCanvas) if pane.display and pane.size.height]
    return "\n".join("".join(span.text for span in row) for pane in panes for row in pane.rows)


def screen(app: ScaletuiApp) -> ScheduleScreen:
    (found,) = [screen for screen in app.screen_stack if isinstance(screen, ScheduleScreen)]
    return found


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait for what comes of them."""
    await pilot.press(*keys)
    for _ in range(2):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_steps_scrubs_and_ends(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        positions = []
        for key in ("full_stop", "full_stop", "comma", "right", "left", "end", "comma", "home"):
            await press(pilot, key)
            positions.append(screen(app).look.playback.position)
        assert positions == [1, 2, 1, 1.5, 1, 33, 31, 0]


async def test_the_timer_exists_only_while_time_runs(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        assert screen(app).timer is None
        await pilot.press("space")
        assert screen(app).timer is not None
        await pilot.press("space")
        assert screen(app).timer is None
        await pilot.press("space", "1")
        await pilot.pause()
        app.switch_mode("schedule")
        await press(pilot)
        assert screen(app).timer is None
        assert not screen(app).look.playback.playing


async def test_a_hidden_screen_is_not_drawn(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time stops either way; only a list leaves something of the screen to be seen."""
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "space")
        drawn: list[bool] = []
        monkeypatch.setattr(screen(app), "redraw", lambda: drawn.append(screen(app).look.playback.playing))
        shown = screen(app)
        await press(pilot, "1")
        assert not shown.look.playback.playing
        assert drawn == []
        app.switch_mode("schedule")
        await press(pilot, "space")
        drawn.clear()
        await press(pilot, "t")
        assert False in drawn


@pytest.mark.parametrize("options", [{"motion": False}, {"fps": 0}], ids=str)
async def test_reduced_motion_steps_by_key_alone(make_app: MakeApp, options: dict[str, object]) -> None:
    app = make_app(**options)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "space")
        assert screen(app).timer is None
        assert "reduced motion" in shown(app)
        await press(pilot, "full_stop")
        assert screen(app).look.playback.position == 1


async def test_memory_critical_path_zoom_and_seconds(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        assert "mem 4" in shown(app)
        await press(pilot, "m", "x")
        assert "mem 4" not in shown(app)
        assert "the critical path" in shown(app)
        await press(pilot, "z", "shift+right")
        assert screen(app).look.zoom == 1
        await press(pilot, "Z", "e")
        assert "about" in shown(app)
        assert "seconds, estimated" in shown(app)


async def test_the_table_takes_a_schedule_into_the_plan(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        await press(pilot, "t")
        assert isinstance(app.screen, TableScreen)
        await press(pilot, "s", "home")
        chosen = app.screen.table.chosen
        assert chosen is not None
        await press(pilot, "enter")
        assert app.editing.scenario.plan.schedule == chosen.name
        assert chosen.name in shown(app)
        await press(pilot, "u")
        assert app.editing.scenario.plan.schedule == "1f1b"


async def test_a_schedule_beside_another_and_away_again(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        await press(pilot, "v", "home", "enter")
        runs = screen(app).picture.runs  # type: ignore[union-attr]
        assert len(runs) == 2
        assert f" {runs[1].name}" in shown(app)
        await press(pilot, "escape")
        assert len(screen(app).picture.runs) == 1  # type: ignore[union-attr]


async def test_the_schedule_itself_is_not_laid_beside_it(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        await press(pilot, "v", "enter")
        assert "1f1b is what is shown already" in shown(app)
        assert len(screen(app).picture.runs) == 1  # type: ignore[union-attr]


async def test_arrows_edit_once_the_plan_has_them(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        await press(pilot, "tab", "right")
        assert app.editing.scenario.cluster.gpus == 8
        await press(pilot, "escape", "down")
        assert screen(app).look.rank == 1


async def test_a_plan_without_a_pipeline_shows_an_example_that_says_so(make_app: MakeApp) -> None:
    app = make_app("1f1b", 1, 1)
    async with app.run_test(size=(200, 50)) as pilot:
        await press(pilot)
        assert "example: 1f1b  p 4  m 8" in shown(app)
        assert "no pipeline (pp 1)" in shown(app)
        await press(pilot, "e")
        assert "an example has no seconds" in shown(app)


async def test_a_turned_page_is_written_a_few_rows_a_frame(make_app: MakeApp) -> None:
    app = make_app("1f1b", 8, 8)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "m", "z", "z")
        found = screen(app)
        await pilot.press("space")
        found._run_clock(False)
        lanes = found.query_one("#schedule-lanes", LineCanvas)
        before = lanes.rows
        found.look = type(found.look)(
            playback=type(found.look.playback)(20.0, 1.0, True), zoom=2, strips=False
        )
        found.tick()
        changed = [y for y, (old, new) in enumerate(zip(before, lanes.rows, strict=True)) if old != new]
        assert len(changed) == 2
        for _ in range(4):
            found.tick()
        assert lanes.rows == tuple(lanes.build(*lanes.content_size))


async def test_messages_and_the_optimizer_step(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        assert "messages free" in shown(app)
        await press(pilot, "b")
        assert "sends block" in shown(app)
        await press(pilot, "b", "b", "b", "o")
        assert "messages free" in shown(app)
        assert "optimizer step; one every 34 t" in shown(app)
        await press(pilot, "end", "comma")
        assert screen(app).look.playback.position == 33
        assert "r0 updates its weights from 33 to 34" in shown(app)
        await press(pilot, "o", "o")
        assert "optimizer step" not in shown(app)
