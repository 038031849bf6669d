"""The players in an app: keys in, rows out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scaletui.actions import PLAYERS, actions_of, footer_of
from scaletui.app import ScaletuiApp
from scaletui.canvas import LineCanvas
from scaletui.messages import RowScrolled
from scaletui.options import ScreenOptions
from scaletui.screens.collective_player import CollectivePlayer
from scaletui.screens.mode import screen_bindings
from scaletui.screens.sharding import ShardingScreen
from scaletui.screens.step_player import StepPlayer
from scaletui.state.collective_choice import next_way
from scaletui.state.playback import SPEEDS
from scaletui_engine.plan import Strategy
from scaletui_engine.sharding.step_frames import Act

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from scaletui_engine.scenario import Scenario

    MakeApp = Callable[..., ScaletuiApp]

SCREENS = {"collective": CollectivePlayer, "one_step": StepPlayer}


@pytest.fixture
def make_app(tmp_path: Path, scenario: Callable[..., Scenario]) -> MakeApp:
    def make(shape: dict[str, object] | None = None, **options: object) -> ScaletuiApp:
        found = scenario(**(shape or {}))
        return ScaletuiApp(
            ScreenOptions(mode="sharding", scenario=found, ring_dir=str(tmp_path), **options)  # type: ignore[arg-type]
        )

    return make


def shown(app: ScaletuiApp) -> str:
    panes = [pane for pane in app.screen.query(LineCanvas) if pane.display and pane.size.height]
    return "\n".join("".join(span.text for span in row) for pane in panes for row in pane.rows)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait for what comes of them."""
    await pilot.press(*keys)
    for _ in range(2):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def collective(app: ScaletuiApp) -> CollectivePlayer:
    (found,) = [screen for screen in app.screen_stack if isinstance(screen, CollectivePlayer)]
    return found


def one_step(app: ScaletuiApp) -> StepPlayer:
    (found,) = [screen for screen in app.screen_stack if isinstance(screen, StepPlayer)]
    return found


@pytest.mark.parametrize("name", ["collective", "one_step"])
def test_every_key_of_a_player_has_a_method(name: str) -> None:
    assert name in PLAYERS
    bound = {binding.id for binding in screen_bindings(name)}
    for entry in actions_of(name):
        if entry.id in bound:
            assert callable(getattr(SCREENS[name], f"action_{entry.id}"))
    keys = [key for entry in actions_of(name) for key in entry.keys]
    assert len(keys) == len(set(keys))
    assert all(name in entry.modes for entry in footer_of(name))


async def test_the_chosen_row_of_traffic_is_played(make_app: MakeApp) -> None:
    app = make_app({"gpus": 16, "tp": 2})
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "right_square_bracket")
        (sharding,) = [screen for screen in app.screen_stack if isinstance(screen, ShardingScreen)]
        assert sharding.look.traffic_row is not None
        assert sharding.sight is not None
        call = sharding.sight.rows[sharding.look.traffic_row].call
        await press(pilot, "c")
        played = collective(app).choice.played
        assert (played.op, played.ranks) == (call.op, call.ranks)
        assert played.payload == call.payload // call.messages


async def test_steps_scrubs_and_ends(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "c")
        frames = []
        for key in ("full_stop", "full_stop", "comma", "right", "left", "end", "comma", "home", "comma"):
            await press(pilot, key)
            frames.append(collective(app).index)
        assert frames == [1, 2, 1, 2, 1, 7, 6, 0, 0]
        await press(pilot, "end")
        assert "step 7 of 7" in shown(app)


async def test_keys_choose_collective_algorithm_ranks_and_nodes(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "c")
        seen = []
        for key in ("c", "c", "c", "a", "n", "N", "N", "g", "right_square_bracket", "left_square_bracket"):
            await press(pilot, "full_stop", key)
            player = collective(app)
            seen.append(
                (player.choice.played.name, player.choice.played.ranks, player.choice.played.per_node)
            )
            assert player.index == 0
        assert seen[:8] == [
            ("ring-broadcast", 8, 8), ("all-to-all", 8, 8), ("ring-all-reduce", 8, 8),
            ("tree-all-reduce", 8, 8), ("tree-all-reduce", 12, 12), ("tree-all-reduce", 8, 8),
            ("tree-all-reduce", 6, 6), ("tree-all-reduce", 6, 3),
        ]  # fmt: skip
        assert seen[8][0] in ("ring-all-gather", "ring-reduce-scatter")


async def test_ranks_are_walked_and_the_words_follow(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "c", "full_stop", "down", "down")
        assert "r2 adds" in shown(app)
        await press(pilot, *["up"] * 5)
        assert "r0 adds" in shown(app)
        await press(pilot, *["down"] * 12)
        assert "▶r7" in shown(app)


async def test_time_runs_to_the_end_and_stops(make_app: MakeApp) -> None:
    app = make_app(fps=30)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "c", *["plus"] * 7, "space")
        player = collective(app)
        assert player.look.playback.speed == SPEEDS[-1]
        for _ in range(1_000):
            if not player.look.playback.playing:
                break
            await pilot.pause(0.02)
        await press(pilot)
        assert player.index == player.last
        assert player.timer is None
        assert "step 7 of 7" in shown(app)


async def test_escape_leaves_and_another_mode_stops_the_clock(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "s", "space")
        player = one_step(app)
        assert player.look.playback.playing
        await press(pilot, "1")
        assert not player.look.playback.playing
        await press(pilot, "3")
        assert app.screen is player
        await press(pilot, "escape")
        assert isinstance(app.screen, ShardingScreen)


async def test_a_strategy_is_changed_at_the_same_moment(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "s")
        player = one_step(app)
        while (
            player.seen is None or player.seen.frame.act is not Act.BACKWARD or player.seen.frame.unit != 13
        ):
            await pilot.press("full_stop")
        await press(pilot)
        seen = [player.strategy]
        for _ in range(5):
            await press(pilot, "s")
            sight = player.seen
            assert sight is not None
            assert sight.moment == (0, 1, -13)
            seen.append(player.strategy)
        assert seen == [
            Strategy.FSDP, Strategy.DDP, Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP,
        ]  # fmt: skip
        await press(pilot, "up")
        assert player.strategy is Strategy.ZERO3


async def test_a_strategy_that_cannot_be_is_passed_over(make_app: MakeApp) -> None:
    app = make_app({"gpus": 16, "pp": 2, "global_batch": 32})
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "s")
        seen = []
        for _ in range(3):
            await press(pilot, "s")
            seen.append(one_step(app).strategy)
        assert seen == [Strategy.DDP, Strategy.ZERO1, Strategy.FSDP]
        assert "not with this plan" in shown(app)


@pytest.mark.parametrize("key", ["c", "s"])
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 30), (200, 50)])
async def test_sizes(make_app: MakeApp, key: str, size: tuple[int, int]) -> None:
    app = make_app()
    async with app.run_test(size=size) as pilot:
        await press(pilot, key, "full_stop", "full_stop")
        lines = shown(app).splitlines()
        assert len(lines) <= size[1]
        assert {len(line) for line in lines} == {size[0]}


@pytest.mark.parametrize("key", ["c", "s"])
async def test_resizing_lays_out_again(make_app: MakeApp, key: str) -> None:
    app = make_app()
    async with app.run_test(size=(160, 45)) as pilot:
        await press(pilot, key)
        await pilot.resize_terminal(80, 24)
        await press(pilot)
        assert {len(line) for line in shown(app).splitlines()} == {80}


@pytest.mark.parametrize("key", ["c", "s"])
async def test_big_ascii_and_themes_draw(make_app: MakeApp, key: str) -> None:
    app = make_app(ascii=True, big=True, theme="light")
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, key, "full_stop")
        assert shown(app).isascii()
        await press(pilot, "ctrl+t")
        assert {len(line) for line in shown(app).splitlines()} == {80}


@pytest.mark.parametrize(("key", "title"), [("c", "More ranks"), ("s", "The same moment, otherwise cut")])
async def test_help_lists_the_players_own_keys(make_app: MakeApp, key: str, title: str) -> None:
    app = make_app()
    async with app.run_test(size=(80, 50)) as pilot:
        await press(pilot, key, "question_mark")
        assert title in shown(app)
        assert "Who holds what?" in shown(app)
        assert "Draw other dims" not in shown(app)


async def test_the_mouse_moves_the_playhead_and_walks(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "c")
        await pilot.click("#players-track", offset=(79, 1))
        assert collective(app).index == 7
        await pilot.click("#players-track", offset=(0, 1))
        assert collective(app).index == 0
        collective(app).post_message(RowScrolled("players-picture", 1))
        await press(pilot)
        assert collective(app).look.rank == 1
        await press(pilot, "escape", "s")
        await pilot.click("#players-chart", offset=(79, 1))
        assert one_step(app).index == one_step(app).last
        await pilot.click("#players-chart", offset=(4, 1))
        assert one_step(app).index == one_step(app).last


async def test_another_scenario_is_played_from_its_start(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "s", *["full_stop"] * 9)
        player = one_step(app)
        assert player.index == 9
        await app._run_command("scenario:llama3-8b-8")
        await press(pilot)
        assert player.index == 0
        assert player.scenario is app.editing.scenario


async def test_the_only_algorithm_plays_on(make_app: MakeApp) -> None:
    """A reduce-scatter has a ring and nothing else: asking for another one takes no step back."""
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "c", "full_stop", "full_stop")
        chosen = collective(app).choice
        assert next_way(chosen) == chosen
        await press(pilot, "a")
        assert (collective(app).choice, collective(app).index) == (chosen, 2)
