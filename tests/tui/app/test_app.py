"""The app as a person uses it: keys in, rows out."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.events import Paste

from scaletui.canvas import LineCanvas
from scaletui.messages import Studied
from scaletui.options import MODES
from scaletui.panes.frame import FooterPane, HeaderPane, NoticePane
from scaletui.screens.budget import BudgetScreen
from scaletui.screens.help import HelpScreen
from scaletui.screens.pick import PickScreen
from scaletui.screens.save import SaveScreen
from scaletui.state.study import study
from scaletui.view.cells import width_of
from scaletui_engine.edit import FIELDS
from scaletui_engine.plan import Recompute
from scaletui_engine.scenario_file import load
from scaletui_engine.scenarios import load_scenario
from scaletui_themes import theme_ids

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from scaletui.app import ScaletuiApp

    MakeApp = Callable[..., ScaletuiApp]

SIZES = [(80, 24), (120, 40), (200, 50), (60, 18), (300, 100)]


def shown(app: ScaletuiApp) -> str:
    """Everything the front screen's visible canvases show, row by row."""
    canvases = [canvas for canvas in app.screen.query(LineCanvas) if canvas.display]
    return "\n".join("".join(span.text for span in row) for canvas in canvases for row in canvas.rows)


async def settle(pilot: Pilot[None]) -> None:
    """Wait for the engine's answer, and for the rows it makes."""
    await pilot.pause()
    if finite := [worker for worker in pilot.app.workers if worker.group != "live"]:
        await pilot.app.workers.wait_for_complete(finite)
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait for what comes of them."""
    await pilot.press(*keys)
    await settle(pilot)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_every_mode_fills_every_size(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        for key, mode in zip("1234", MODES, strict=True):
            await press(pilot, key)
            assert app.current_mode == mode
            for canvas in app.screen.query(LineCanvas):
                if canvas.display and canvas.size.width:
                    widths = {sum(width_of(span.text) for span in row) for row in canvas.rows}
                    assert widths <= {canvas.size.width}, canvas
                    assert len(canvas.rows) <= canvas.size.height, canvas


@pytest.mark.parametrize("theme", theme_ids())
async def test_every_mode_mounts_under_every_theme(make_app: MakeApp, theme: str) -> None:
    app = make_app(theme=theme, mode="live")
    async with app.run_test(size=(80, 24)) as pilot:
        for key in "4321":
            await press(pilot, key)
            assert app.theme == theme
            assert app.screen.query_one(HeaderPane).render_line(0).text.startswith(" scaletui ")


@pytest.mark.parametrize(("size", "asks"), [((59, 24), True), ((80, 17), True), ((60, 18), False)], ids=str)
async def test_a_terminal_too_small_gets_one_line(
    make_app: MakeApp, size: tuple[int, int], asks: bool
) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        for key, mode in zip("1234", MODES, strict=True):
            await press(pilot, key)
            assert ("needs 60 x 18" in shown(app)) == asks, mode


async def paste(pilot: Pilot[None], text: str) -> None:
    """Replace what stands in an open line of text."""
    await pilot.press("ctrl+u")
    pilot.app.post_message(Paste(text))
    await press(pilot, "enter")


async def test_the_first_line_answers_whether_it_fits(make_app: MakeApp) -> None:
    app = make_app(scenario=load_scenario("llama3-70b-8"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert app.answer is not None
        assert not app.answer.budget.fits
        assert "over by" in shown(app)
        assert "on stage 0" in shown(app)


async def test_arrows_step_the_field_and_the_change_is_shown(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        before = app.answer
        await press(pilot, "right")
        assert app.editing.scenario.cluster.gpus == 12
        assert app.answer is not before
        assert "change -" in shown(app)
        await press(pilot, "down")
        assert "change -" not in shown(app)


async def test_typing_sets_a_value_and_digits_are_not_modes_meanwhile(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await press(pilot, "enter", "3", "2", "enter")
        assert app.current_mode == "budget"
        assert app.editing.scenario.cluster.gpus == 32


async def test_a_refusal_stands_in_one_line_and_nothing_is_lost(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await press(pilot, "enter", *"12q", "enter")
        notice = app.screen.query_one(NoticePane).rows[0]
        assert [span.role for span in notice if span.text.strip()] == ["error"]
        assert app.editing.pending == "12q"
        assert app.editing.scenario == load_scenario("llama3-8b-8")
        await press(pilot, "escape")
        assert app.editing.pending is None


@pytest.mark.parametrize(
    ("pane", "offset", "focus"), [("#parts", (5, 3), "parts"), ("#stages", (5, 1), "stages")]
)
async def test_a_click_chooses_what_it_hits(
    make_app: MakeApp, pane: str, offset: tuple[int, int], focus: str
) -> None:
    app = make_app(scenario=load_scenario("llama3-405b-16384"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.click(pane, offset=offset)
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, BudgetScreen)
        assert screen.state.focus == focus
        assert (screen.state.part, screen.state.stage) == (
            ("optimizer", None) if focus == "parts" else ("weights", 1)
        )


async def test_clicks_on_fields_modes_and_keys(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.click("#side", offset=(5, 5))
        await settle(pilot)
        assert app.editing.field == FIELDS[4]
        await pilot.click("#side", offset=(5, 5))
        await settle(pilot)
        assert app.editing.pending == ""
        await press(pilot, "escape")
        await pilot.click(HeaderPane, offset=(95, 0))
        await settle(pilot)
        assert app.current_mode == "schedule"
        await pilot.click(FooterPane, offset=(2, 0))
        await settle(pilot)
        assert isinstance(app.screen, HelpScreen)


async def test_a_change_of_the_list_is_applied(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, BudgetScreen)
        assert app.answer is not None
        screen.post_message(Studied(study(app.answer.scenario, 0)))
        await settle(pilot)
        await press(pilot, "f", *"recompute full", "enter")
        assert app.editing.scenario.plan.recompute is Recompute.FULL
        await press(pilot, "u")
        assert app.editing.scenario == load_scenario("llama3-8b-8")


async def test_the_list_opens_when_the_engine_has_looked(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for before; a list that was not asked for does not come by itself."""
    # Only this test says when the engine has looked.
    monkeypatch.setattr(BudgetScreen, "_ask_closer", lambda _screen, *_asked: None)
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, BudgetScreen)
        assert app.answer is not None
        found = study(app.answer.scenario, 0)
        screen.look(replace(screen.state, study=None))
        await press(pilot, "f")
        assert app.screen is screen
        screen.post_message(Studied(found))
        await settle(pilot)
        assert isinstance(app.screen, PickScreen)
        await press(pilot, "escape")
        screen.post_message(Studied(found))
        await settle(pilot)
        assert app.screen is screen


async def test_undo_redo_and_their_ends(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await press(pilot, "u")
        assert "nothing to undo" in shown(app)
        await press(pilot, "right", "u")
        assert app.editing.scenario == load_scenario("llama3-8b-8")
        await press(pilot, "ctrl+r")
        assert app.editing.scenario.cluster.gpus == 12


async def test_the_model_is_picked_from_a_list(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await press(pilot, "slash", *"llama3.2-1b", "enter")
        assert app.editing.scenario.model.id == "llama3.2-1b"
        await press(pilot, "slash", "escape")
        assert app.editing.scenario.model.id == "llama3.2-1b"


async def test_the_scenario_is_saved_and_reads_back(make_app: MakeApp, tmp_path: Path) -> None:
    app, path = make_app(), tmp_path / "mine.toml"
    async with app.run_test() as pilot:
        await press(pilot, "right", "w")
        await paste(pilot, str(path))
        assert load(path.read_text(encoding="utf-8")) == app.editing.scenario
        path.write_text("kept", encoding="utf-8")
        await press(pilot, "w")
        await paste(pilot, str(path))
        assert path.read_text(encoding="utf-8") == "kept"
        await press(pilot, "enter")
        assert load(path.read_text(encoding="utf-8")) == app.editing.scenario


async def test_a_path_that_cannot_be_written_is_said_so(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await press(pilot, "w")
        await paste(pilot, str(tmp_path / "no" / "x.toml"))
        assert "No such file" in shown(app)
        await press(pilot, "down")
        assert "No such file" not in shown(app)


@pytest.mark.parametrize(
    ("name", "begins"), [("b.md", "# llama3-8b"), ("b.json", "{"), ("b.svg", "<svg"), ("b.toml", "#")]
)
async def test_the_budget_is_exported(make_app: MakeApp, tmp_path: Path, name: str, begins: str) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        await press(pilot, "e")
        await paste(pilot, str(tmp_path / "b.txt"))
        assert isinstance(app.screen, SaveScreen)
        await paste(pilot, str(tmp_path / name))
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)
        assert not (tmp_path / "b.txt").exists()


async def test_every_mode_shows_the_edited_scenario(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "right")
        for key, mode in (("2", "schedule"), ("3", "sharding"), ("1", "budget")):
            await press(pilot, key)
            assert app.current_mode == mode
            assert "12× h100-sxm" in shown(app)


async def test_help_lists_every_key_of_the_mode_and_any_key_leaves(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(100, 60)) as pilot:
        await press(pilot, "question_mark")
        assert "Write the scenario to a TOML file" in shown(app)
        await press(pilot, "x")
        assert "Write the scenario to a TOML file" not in shown(app)


async def test_the_command_palette_runs_what_is_chosen(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(100, 40)) as pilot:
        await press(pilot, "ctrl+p", *"light", "enter")
        assert app.theme == "light"
        await press(pilot, "ctrl+p", *"405b", "enter")
        assert app.editing.scenario.model.id == "llama3.1-405b"
        await press(pilot, "ctrl+p", *"where does the time", "enter")
        assert app.current_mode == "schedule"


async def test_the_theme_changes_in_turn(make_app: MakeApp) -> None:
    app = make_app(theme=theme_ids()[-1])
    async with app.run_test() as pilot:
        await press(pilot, "ctrl+t")
        assert app.theme == theme_ids()[0]


async def test_an_answer_to_another_scenario_is_dropped(make_app: MakeApp) -> None:
    from scaletui.messages import Answered
    from scaletui.state.answer import answer

    app = make_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        current = app.answer
        app.post_message(Answered(answer(load_scenario("llama3-70b-8")), 0.0))
        await settle(pilot)
        assert app.answer is current


def canvases() -> int:
    """Canvases that are alive, mounted or not."""
    gc.collect()
    # By type: `isinstance` asks for `__class__`, at which a deprecated object of torch warns.
    return sum(issubclass(type(thing), LineCanvas) for thing in gc.get_objects())


async def test_screens_are_mounted_once_however_often_modes_change(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await press(pilot, "2", "3", "1")
        count = canvases()
        for _ in range(6):
            await press(pilot, "2", "3", "1")
        assert canvases() == count


async def test_ascii_draws_nothing_else(make_app: MakeApp) -> None:
    app = make_app(ascii=True)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        for key in "123":
            await press(pilot, key)
            assert shown(app).isascii()


async def test_big_fills_its_screens(make_app: MakeApp) -> None:
    app = make_app(big=True)
    async with app.run_test(size=(80, 24)) as pilot:
        for key in "123":
            await press(pilot, key)
            for canvas in app.screen.query(LineCanvas):
                if canvas.display:
                    assert len(canvas.rows) <= canvas.size.height, canvas
