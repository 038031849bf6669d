"""The sharding screen in an app: keys in, rows out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scaletui.app import ScaletuiApp
from scaletui.canvas import LineCanvas
from scaletui.options import ScreenOptions
from scaletui.screens.sharding import ShardingScreen
from scaletui_engine.sharding.orders import Order
from scaletui_engine.sharding.part import Part

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from scaletui_engine.scenario import Scenario

    MakeApp = Callable[..., ScaletuiApp]


@pytest.fixture
def make_app(tmp_path: Path, scenario: Callable[..., Scenario]) -> MakeApp:
    def make(**options: object) -> ScaletuiApp:
        return ScaletuiApp(
            ScreenOptions(mode="sharding", scenario=scenario(**options), ring_dir=str(tmp_path))
        )

    return make


def shown(app: ScaletuiApp) -> str:
    panes = [pane for pane in app.screen.query(LineCanvas) if pane.display and pane.size.height]
    return "\n".join("".join(span.text for span in row) for pane in panes for row in pane.rows)


def screen(app: ScaletuiApp) -> ShardingScreen:
    (found,) = [screen for screen in app.screen_stack if isinstance(screen, ShardingScreen)]
    return found


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait for what comes of them."""
    await pilot.press(*keys)
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_tiles_and_ranks_are_one_selection(make_app: MakeApp) -> None:
    app = make_app(tp=2)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        assert "[r0 " in shown(app)
        await press(pilot, "right")
        assert screen(app).look.rank == 2
        assert "[r2 " in shown(app)
        assert "[2]" in shown(app)
        await press(pilot, "full_stop")
        assert screen(app).look.rank == 3
        assert "[r3 " in shown(app)
        await press(pilot, "comma", "left")
        assert screen(app).look.rank == 0


async def test_switches(make_app: MakeApp) -> None:
    app = make_app(gpus=16, pp=2)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "p", "o", "v", "t")
        look = screen(app).look
        assert (look.part, look.order, look.implemented, look.tall) == (
            Part.GRADIENTS, Order.TORCHTITAN, False, True,
        )  # fmt: skip
        assert "as papers count it" in shown(app)
        assert "dims 0" not in shown(app)
        await press(pilot, "t", "down", "d")
        assert screen(app).look.parameter == "layers.{layer}.attention.wk"


async def test_find_takes_a_layer_or_a_rank(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot)
        for query, words in (
            ("rank 6", "rank 6: dp_shard 6"),
            ("layers.31.attention.wo", "layers.31.attention.wo"),
        ):
            await press(pilot, "slash")
            await press(
                pilot, *("space" if key == " " else "full_stop" if key == "." else key for key in query)
            )
            await press(pilot, "enter")
            assert words in shown(app)


async def test_the_plan_is_edited_in_place(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "tab", "down", "right")
        assert app.session is not None
        assert len(app.session.editing.past) == 1


@pytest.mark.parametrize(("width", "beside"), [(119, False), (120, True)])
async def test_a_second_column_from_120(make_app: MakeApp, width: int, beside: bool) -> None:
    app = make_app()
    async with app.run_test(size=(width, 40)) as pilot:
        await press(pilot)
        assert ("groups of rank 0" in shown(app)) is beside


async def test_another_model_is_looked_at_from_where_the_reader_was(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "full_stop", "full_stop", "m")
        await press(pilot, *(key.replace("-", "minus") for key in "mixtral-8x7b"), "enter")
        assert app.session is not None
        assert app.session.editing.scenario.model.id == "mixtral-8x7b"
        assert screen(app).look.rank == 2
        assert "layers.[0-31].attention.wq" in shown(app)


async def click(pilot: Pilot[None], pane: str, x: int, y: int) -> None:
    """Click on a cell of a pane and wait for what comes of it."""
    await pilot.click(pane, offset=(x, y))
    await pilot.pause()


async def test_a_click_on_a_tile_or_a_rank_chooses_both(make_app: MakeApp) -> None:
    app = make_app(tp=2)
    async with app.run_test(size=(120, 30)) as pilot:
        await press(pilot)
        pane = app.screen.query_one("#sharding-tensor", LineCanvas)
        texts = ["".join(span.text for span in row) for row in pane.rows]
        line = next(y for y, text in enumerate(texts) if "r5" in text)
        await click(pilot, "#sharding-tensor", texts[line].index("r5"), line)
        assert screen(app).look.rank == 5
        assert "[5]" in shown(app)
        mesh = app.screen.query_one("#sharding-mesh", LineCanvas)
        ranks = "".join(span.text for span in mesh.rows[2])
        await click(pilot, "#sharding-mesh", ranks.index(" 2 ") + 1, 2)
        assert screen(app).look.rank == 2
        assert "[r2 " in shown(app)


@pytest.mark.parametrize(
    "where", [("#sharding-tensor", 0, 0), ("#sharding-tensor", 8, 2), ("#sharding-mesh", 2, 0)]
)
async def test_a_click_on_edges_chooses_nothing(make_app: MakeApp, where: tuple[str, int, int]) -> None:
    app = make_app(tp=2)
    async with app.run_test(size=(120, 30)) as pilot:
        await press(pilot, "full_stop")
        await click(pilot, *where)
        assert screen(app).look.rank == 1


async def test_a_row_of_the_traffic_lights_its_group_alone(make_app: MakeApp) -> None:
    app = make_app(tp=2)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot)
        sight = screen(app).sight
        assert sight is not None
        tp = next(place for place, row in enumerate(sight.rows) if row.group == "tp")
        await click(pilot, "#sharding-lower", 3, 3 + 2 + tp)
        assert screen(app).look.traffic_row == tp
        assert "t the tp group of rank 0" in shown(app)
        assert "1t" in shown(app)
        assert "2d" not in shown(app)
        await click(pilot, "#sharding-lower", 3, 3 + 2 + tp)
        assert screen(app).look.traffic_row is None


async def test_keys_walk_the_rows_of_the_traffic(make_app: MakeApp) -> None:
    app = make_app(tp=2)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "right_square_bracket", "right_square_bracket")
        assert screen(app).look.traffic_row == 1
        await press(pilot, "t", "down")
        assert screen(app).look.traffic_row == 2
        await press(pilot, "t", "left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert screen(app).look.traffic_row is None
        await press(pilot, "left_square_bracket")
        sight = screen(app).sight
        assert sight is not None
        assert screen(app).look.traffic_row == len(sight.rows) - 1


async def test_activations_are_a_part_with_names_of_their_own(make_app: MakeApp) -> None:
    app = make_app(tp=2, cp=2)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "p", "p", "p")
        assert screen(app).look.part is Part.ACTIVATIONS
        assert "layers.[0-31].input" in shown(app)
        await press(pilot, "slash", *"terms", "down", "enter")
        assert "layers.[0-31].attention.terms" in shown(app)
        assert "one of 2 terms of a sum" in shown(app)
        await press(pilot, "p", "p")
        assert screen(app).look.part is Part.WEIGHTS
        assert "layers.[0-31].attention.wq" in shown(app)


async def test_a_row_that_is_sent_no_longer_is_not_chosen(make_app: MakeApp) -> None:
    app = make_app(tp=2)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "left_square_bracket")
        last = screen(app).look.traffic_row
        assert last is not None
        screen(app).look_at(replace(screen(app).look, traffic_row=last + 1))
        assert screen(app).look.traffic_row is None


async def test_tiles_are_drawn_as_torch_declares_them(make_app: MakeApp) -> None:
    app = make_app(tp=2)
    async with app.run_test(size=(120, 30)) as pilot:
        await press(pilot, "D")
        assert "as torch declares it" in shown(app)
        await press(pilot, "D")
        assert "as torch declares it" not in shown(app)
