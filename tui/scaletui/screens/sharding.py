"""Sharding: who holds this, and over which wire does it travel?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Horizontal, Vertical

from scaletui.messages import Noticed
from scaletui.panes.rows import RowsPane
from scaletui.screens.collective_player import CollectivePlayer
from scaletui.screens.mode import screen_bindings
from scaletui.screens.pick import PickScreen
from scaletui.screens.plan import PlanScreen
from scaletui.screens.step_player import StepPlayer
from scaletui.state.seat import Seat
from scaletui.state.session import Notice
from scaletui.state.sharding_find import finding, taken
from scaletui.state.sharding_look import Look, next_order, next_part, next_row, settled, walked
from scaletui.state.sharding_sight import Sight, next_tile, sight_of
from scaletui.text.language import tr
from scaletui.text.refusals import refusal
from scaletui.view.box import Box
from scaletui.view.plan import plan_rows
from scaletui.view.sharding_mesh import mesh_rows, rank_at
from scaletui.view.sharding_tensor import picture_in, spot_at, tensor_rows
from scaletui.view.sharding_traffic import row_at, traffic_pane
from scaletui.view.sharding_words import CURSOR, answer_row, cursor_rows, details_rows
from scaletui_engine.errors import ScenarioError
from scaletui_themes import stylesheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.events import Resize
    from textual.widget import Widget

    from scaletui.messages import RowClicked, RowScrolled
    from scaletui.state.session import Session
    from scaletui.state.sharding_picture import Spot
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

WIDE: Final = 120
FRAME: Final = 4
"""Header, news, keys and the answer."""
LEAST_PICTURES: Final = 12
"""Rows that the two pictures keep."""


class ShardingScreen(PlanScreen):
    """A parameter, the mesh and the traffic of a step: three views of one rank."""

    MODE: ClassVar[str] = "sharding"
    BINDINGS = screen_bindings("sharding")
    CSS_PATH = [stylesheet("sharding")]  # noqa: RUF012 (annotated it would break the base class, which is invariant)

    def __init__(self) -> None:
        super().__init__()
        self.look = Look()
        self.sight: Sight | None = None

    def body(self) -> Iterable[Widget]:
        """The answer across; the pictures, what they mean beneath, groups and plan at the side."""
        yield RowsPane(self._draw_answer, id="sharding-answer")
        with Horizontal(id="sharding-columns"):
            with Vertical(id="sharding-main"):
                with Horizontal(id="sharding-pictures"):
                    yield RowsPane(self._draw_tensor, id="sharding-tensor")
                    yield RowsPane(self._draw_mesh, id="sharding-mesh")
                yield RowsPane(self._draw_lower, id="sharding-lower")
            with Vertical(id="sharding-side"):
                yield RowsPane(self._draw_details, id="sharding-details")
                yield RowsPane(self.draw_plan, id="side")

    def show(self, session: Session) -> None:
        """Look at the session's scenario, from where the reader was."""
        self.session = session
        self._answer()
        super().show(session)

    def look_at(self, look: Look) -> None:
        """Another look, and its answers."""
        self.look = look
        self._answer()
        self.redraw()

    def on_resize(self, event: Resize) -> None:
        """Rows go to other parts."""
        del event
        self.call_after_refresh(self.redraw)

    def redraw(self) -> None:
        """Give every part its rows first."""
        room = self.size.height - FRAME
        rows = max(len(self.sight.rows), 1) if self.sight else 1
        lower = min(CURSOR + 2 + rows, max(room - LEAST_PICTURES, CURSOR))
        self.query_one("#sharding-pictures").display = not self.look.tall
        self.query_one("#sharding-lower").styles.height = room if self.look.tall else lower
        super().redraw()

    def draw_plan(self, box: Box) -> Sequence[Row]:
        """The fields; they take the arrow keys when they are asked to."""
        if self.session is None:
            return ()
        return plan_rows(self.session.editing, box, self.session.pen, focus=self.look.edits)

    def on_row_clicked(self, message: RowClicked) -> None:
        """A tile, a rank or a row of traffic is chosen everywhere; a field goes to the plan."""
        picks = {
            "sharding-tensor": self._pick_tile, "sharding-mesh": self._pick_rank,
            "sharding-lower": self._pick_row,
        }  # fmt: skip
        if message.pane in picks:
            picks[message.pane](message)
            return
        if message.pane == "side" and not self.look.edits:
            self.look_at(replace(self.look, edits=True))
        super().on_row_clicked(message)

    def _pick_tile(self, message: RowClicked) -> None:
        """The lowest rank of the tile is the rank that is looked at."""
        if self.sight is not None and self.session is not None:
            box, where = self._box("#sharding-tensor"), (message.x, message.y)
            self._look_at_tile(spot_at(self.sight, box, where, self.session.pen))

    def _pick_rank(self, message: RowClicked) -> None:
        if self.sight is not None and self.session is not None:
            box, where = self._box("#sharding-mesh"), (message.x, message.y)
            rank = rank_at(self.sight, box, where, self.session.pen)
            if rank is not None:
                self.look_at(replace(self.look, rank=rank))

    def _pick_row(self, message: RowClicked) -> None:
        """The row's group lights up; a second click lights all groups again."""
        if self.sight is not None and not (self.look.edits and not self._is_wide):
            row = row_at(self.sight, message.height - CURSOR, message.y - CURSOR)
            if row is not None:
                self.look_at(replace(self.look, traffic_row=None if row == self.look.traffic_row else row))

    def _look_at_tile(self, spot: Spot | None) -> None:
        if self.sight is not None and spot is not None:
            rank = self.sight.first(picture_in(self.sight, self._box("#sharding-tensor")).holders(spot))
            if rank is not None:
                self.look_at(replace(self.look, rank=rank))

    def _box(self, pane: str) -> Box:
        size = self.query_one(pane).size
        return Box(size.width, size.height)

    def on_row_scrolled(self, message: RowScrolled) -> None:
        """The wheel walks ranks and fields."""
        if message.pane in ("sharding-tensor", "sharding-mesh"):
            self._step(message.direction)
        else:
            super().on_row_scrolled(message)

    def action_step_on(self) -> None:
        """The next rank."""
        self._step(1)

    def action_step_back(self) -> None:
        """The rank before."""
        self._step(-1)

    def action_up(self) -> None:
        """The parameter above, or the field above."""
        self._walk(-1)

    def action_down(self) -> None:
        """The parameter below, or the field below."""
        self._walk(1)

    def action_next_tile(self) -> None:
        """The next tile; on the plan, the field's next value."""
        if self.look.edits:
            self.action_right()
        else:
            self._tile(1)

    def action_previous_tile(self) -> None:
        """The tile before; on the plan, the field's previous value."""
        if self.look.edits:
            self.action_left()
        else:
            self._tile(-1)

    def action_find(self) -> None:
        """A list of parameters, and ranks by number."""
        if self.session is not None:
            items = finding(self.session.editing.scenario, self.look.part)
            self.app.push_screen(PickScreen(tr("find"), items, self.session.pen), self._take)

    def action_part(self) -> None:
        """Weights, gradients, optimizer, activations, gradients before their sum."""
        if self.session is not None:
            self.look_at(next_part(self.look, self.session.editing.scenario))

    def action_order(self) -> None:
        """The next order of ranks; the place on the mesh stays."""
        if self.session is not None:
            self.look_at(next_order(self.look, self.session.editing.scenario.plan.axes))

    def action_dims(self) -> None:
        """The next pair of dims."""
        self.look_at(replace(self.look, pair=self.look.pair + 1))

    def action_declared(self) -> None:
        """What ranks hold, or what DTensor's placements declare."""
        self.look_at(replace(self.look, declared=not self.look.declared))

    def action_papers(self) -> None:
        """As sent, or as papers count it; the rows are others then."""
        self.look_at(replace(self.look, implemented=not self.look.implemented, traffic_row=None))

    def action_next_row(self) -> None:
        """The next row of the traffic: its group lights up."""
        self._row(1)

    def action_previous_row(self) -> None:
        """The row before."""
        self._row(-1)

    def action_traffic(self) -> None:
        """All of the table, or the pictures."""
        self.look_at(replace(self.look, tall=not self.look.tall))

    def action_collective(self) -> None:
        """The chosen row of the traffic, message by message."""
        if self.sight is not None and self.session is not None:
            self.app.push_screen(CollectivePlayer(self.session, self.sight.rows, self.sight.look))

    def action_one_step(self) -> None:
        """A training step, unit by unit."""
        if self.session is not None:
            self.app.push_screen(StepPlayer(self.session, Seat(self.look.rank, self.look.order)))

    def action_plan_too(self) -> None:
        """The plan, or the tensor."""
        self.look_at(replace(self.look, edits=not self.look.edits))

    def action_type(self) -> None:
        """Open the field for typing; the first time, go to the plan."""
        if self.look.edits:
            super().action_type()
        else:
            self.action_plan_too()

    async def action_other_model(self) -> None:
        """The app's list of models."""
        await self.app.run_action("pick_model")

    def _answer(self) -> None:
        if self.session is None:
            return
        scenario = self.session.editing.scenario
        self.look = settled(self.look, scenario)
        try:
            self.sight = sight_of(scenario, self.look)
            if self.sight.row is None:
                # Another scenario, or order, may send less.
                self.look = replace(self.look, traffic_row=None)
        except ScenarioError as error:
            self.sight = None
            self.post_message(Noticed(Notice(refusal(error), "error")))

    def _take(self, chosen: str | None) -> None:
        if chosen is not None:
            self.look_at(taken(self.look, chosen))

    def _step(self, steps: int) -> None:
        self.look_at(replace(self.look, rank=self.look.rank + steps))

    def _walk(self, steps: int) -> None:
        if self.look.edits:
            super().action_down() if steps > 0 else super().action_up()
        elif self.look.tall:
            self._row(steps)
        elif self.session is not None:
            self.look_at(walked(self.look, self.session.editing.scenario, steps))

    def _row(self, steps: int) -> None:
        if self.sight is not None:
            self.look_at(next_row(self.look, len(self.sight.rows), steps))

    def _tile(self, steps: int) -> None:
        """The lowest rank of the tile that the cursor goes to is the rank that is looked at."""
        if self.sight is not None:
            picture = picture_in(self.sight, self._box("#sharding-tensor"))
            self._look_at_tile(next_tile(picture, self.sight.rank, steps))

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= WIDE

    def _draw(self, view: Callable[[Sight, Pen], Sequence[Row]]) -> Sequence[Row]:
        return view(self.sight, self.session.pen) if self.sight and self.session else ()

    def _draw_answer(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: (answer_row(sight, box.width, pen),))

    def _draw_tensor(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: tensor_rows(sight, box, pen, focus=not self.look.edits))

    def _draw_mesh(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: mesh_rows(sight, box, pen))

    def _draw_lower(self, box: Box) -> Sequence[Row]:
        if self.look.edits and not self._is_wide:
            return self.draw_plan(box)
        room = Box(box.width, max(box.height - CURSOR, 0))
        return self._draw(
            lambda sight, pen: (*cursor_rows(sight, box.width, pen), *traffic_pane(sight, room, pen))
        )

    def _draw_details(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: details_rows(sight, box, pen)) if self._is_wide else ()
