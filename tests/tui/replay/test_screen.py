"""The replay in an app: the keys of the schedule screen, the panes of the live one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.actions import actions_of
from scaletui.app import ScaletuiApp
from scaletui.canvas import LineCanvas
from scaletui.options import ScreenOptions
from scaletui.screens.mode import app_bindings, screen_bindings
from scaletui.screens.replay import ReplayScreen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from scaletui_engine.live.recording.reader import Recording


@pytest.fixture
def app(path: Path) -> ScaletuiApp:
    return ScaletuiApp(ScreenOptions(mode="live", replay=str(path), ascii=True))


def shown(app: ScaletuiApp) -> str:
    panes = [pane for pane in app.screen.query(LineCanvas) if pane.display and pane.size.height]
    return "\n".join("".join(span.text for span in row) for pane in panes for row in pane.rows)


def replay(app: ScaletuiApp) -> ReplayScreen:
    screen = app.screen
    assert isinstance(screen, ReplayScreen)
    return screen


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    for _ in range(400):
        if holds():
            return
        await pilot.pause(0.02)
    pytest.fail("never came true")


async def test_it_opens_on_the_first_look_and_stands_still(app: ScaletuiApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "REPLAY 0:00 of 0:19" in shown(app))
        assert "step 0" in shown(app)
        assert replay(app).timer is None
        assert [worker for worker in app.workers if worker.group == "live"] == []


async def test_it_has_the_pages_and_the_columns_of_the_live_screen(app: ScaletuiApp) -> None:
    """Styles are inherited along the first base alone."""
    async with app.run_test(size=(200, 50)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        names = ("details", "explain", "page", "ranks")
        assert [app.screen.query_one(f"#live-{name}").display for name in names] == [True, True, False, True]
        await pilot.press("enter")
        assert [app.screen.query_one(f"#live-{name}").display for name in names] == [True, True, True, False]


@pytest.mark.parametrize(
    ("keys", "position"),
    [
        ([".", "."], 1.0), ([".", ".", ","], 0.5), (["end"], 19.5), (["end", "home"], 0.0), (["n"], 10.0),
        (["end", "N"], 10.0), (["n", "n"], 10.0), (["right"], 19.5 / 118), (["right", "left"], 0.0),
    ],
    ids=str,
)  # fmt: skip
async def test_keys_go_where_they_say(app: ScaletuiApp, keys: list[str], position: float) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        await pilot.press(*keys)
        assert replay(app).playback.position == pytest.approx(position)


async def test_what_is_shown_is_the_look_of_that_moment(app: ScaletuiApp, recording: Recording) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        for key in ("n", ".", "end", "home", "n", ","):
            await pilot.press(key)
            wanted = recording.look(recording.number_at(replay(app).playback.position))
            assert replay(app).state.shown == wanted
        await pilot.press("n")
        assert "rank 0: out of memory" in shown(app)


async def test_time_runs_at_its_speed_and_stops_at_the_end(app: ScaletuiApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        await pilot.press("plus", "plus", "minus")
        assert replay(app).playback.speed == 2.0
        await pilot.press("plus", "plus", "plus", "plus", "plus", "plus")
        await pilot.press("space")
        assert replay(app).timer is not None
        await until(pilot, lambda: replay(app).playback.position == 19.5)
        await until(pilot, lambda: replay(app).timer is None)
        assert "0:19 of 0:19" in shown(app)
        assert "step 20" in shown(app)


async def test_paused_it_paints_nothing(app: ScaletuiApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        await pilot.press("n", "space", "space")
        await pilot.pause()
        painted = []
        for pane in app.screen.query(LineCanvas):
            pane.refresh = lambda *regions, **options: painted.append(regions)  # type: ignore[method-assign, misc]
        replay(app).play(replay(app).playback)
        replay(app).redraw()
        await pilot.pause(0.3)
        assert painted == []


async def test_a_hidden_replay_stops(app: ScaletuiApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        screen = replay(app)
        await pilot.press("space", "1")
        assert (screen.playback.playing, screen.timer) == (False, None)
        await pilot.press("4")
        assert app.screen is screen


async def test_ranks_are_walked_and_a_click_goes_to_a_time(app: ScaletuiApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        await pilot.press("down")
        assert replay(app).state.rank is not None
        await pilot.click("#replay-line", offset=(118, 1))
        assert replay(app).playback.position == 19.5


async def test_without_motion_time_moves_by_steps_alone(path: Path) -> None:
    app = ScaletuiApp(ScreenOptions(mode="live", replay=str(path), ascii=True, motion=False))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        await pilot.press("space")
        await until(pilot, lambda: "reduced motion" in shown(app))
        assert replay(app).timer is None


async def test_damage_in_the_middle_stops_it_with_a_line(
    app: ScaletuiApp, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scaletui_engine.live.recording.fault import RecordingError

    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))

        def broken(number: int) -> None:
            raise RecordingError(f"look {number} is damaged")

        monkeypatch.setattr(replay(app).recording, "look", broken)
        await pilot.press("end")
        await until(pilot, lambda: "look 39 is damaged" in shown(app))
        assert "step 0" in shown(app)


def test_no_key_does_two_things_and_every_action_has_a_method() -> None:
    keys = [key for entry in actions_of("replay") for key in entry.keys]
    assert len(keys) == len(set(keys))
    bound = {binding.id: binding.action for binding in (*app_bindings(), *screen_bindings("replay"))}
    for entry in actions_of("replay"):
        owner = ScaletuiApp if entry.group in ("everywhere", "screens") else ReplayScreen
        assert callable(getattr(owner, f"action_{entry.id}", None)), entry.id
        assert bound[entry.id] == entry.id


async def test_help_and_palette_list_its_keys(app: ScaletuiApp) -> None:
    async with app.run_test(size=(120, 45)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        await pilot.press("question_mark")
        await until(pilot, lambda: "Where something happened next" in shown(app))
        assert "Look at the job before" not in shown(app)


async def test_every_look_is_exported(app: ScaletuiApp, tmp_path: Path) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "step 0" in shown(app))
        await pilot.press("e", "ctrl+u", *str(tmp_path / "all.csv").replace("/", " "))
        app.screen.naming = type(app.screen.naming)(str(tmp_path / "all.csv"), (".csv", ".jsonl"))  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: "lines written to" in shown(app))
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 21
