"""Schedule: where does the time go?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal
from textual.worker import get_current_worker

from scaletui.messages import Noticed, Pictured
from scaletui.panes.rows import RowsPane
from scaletui.screens.mode import screen_bindings
from scaletui.screens.plan import PlanScreen
from scaletui.state.schedule import picture
from scaletui.state.session import Notice
from scaletui.text.refusals import refusal
from scaletui.view.schedule import definitions, legend_row, schedule_answer, stage_table, timeline_of
from scaletui_engine.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.widget import Widget

    from scaletui.state.schedule import SchedulePicture
    from scaletui.state.session import Session
    from scaletui.view.box import Box
    from scaletui.view.row import Row
    from scaletui_engine.scenario import Scenario


class ScheduleScreen(PlanScreen):
    """One step of the plan's pipeline, simulated with equal stages."""

    MODE: ClassVar[str] = "schedule"
    BINDINGS = screen_bindings("schedule")

    def __init__(self) -> None:
        super().__init__()
        self.picture: SchedulePicture | None = None
        self.asked: Scenario | None = None
        """The scenario that is being simulated, or was last."""
        self.rank = 0

    def body(self) -> Iterable[Widget]:
        """Answer, timeline, legend, and two tables below."""
        yield RowsPane(self._draw_answer, id="schedule-answer")
        yield RowsPane(self._draw_timeline, id="timeline")
        yield RowsPane(self._draw_legend, id="legend")
        with Horizontal(id="tables"):
            yield RowsPane(self._draw_table, id="holders")
            yield RowsPane(self._draw_definitions, id="definitions")
            yield RowsPane(self.draw_plan, id="side")

    def show(self, session: Session) -> None:
        """Simulate another scenario, and draw."""
        scenario = session.editing.scenario
        if scenario is not self.asked:
            self.asked = scenario
            self.run_worker(partial(self._simulate, scenario), thread=True, exclusive=True, group="schedule")
        super().show(session)

    def on_pictured(self, message: Pictured) -> None:
        """Draw a simulation, unless the scenario has changed since."""
        message.stop()
        if self.session is not None and message.picture.scenario is self.session.editing.scenario:
            self.picture = message.picture
            self._look(self.rank)

    def action_step_on(self) -> None:
        """The next rank."""
        self._look(self.rank + 1)

    def action_step_back(self) -> None:
        """The rank before."""
        self._look(self.rank - 1)

    def redraw(self) -> None:
        """Make room for the lanes first."""
        ranks = len(self.picture.layers) if self.picture else 1
        room = max(self.size.height - OTHER_ROWS, 3)
        tall = 2 if self.session and self.session.pen.big else 1
        self.query_one("#timeline").styles.height = min(ranks * tall + 1, room)
        super().redraw()

    def _look(self, rank: int) -> None:
        last = len(self.picture.layers) - 1 if self.picture else 0
        self.rank = min(max(rank, 0), last)
        self.redraw()

    def _simulate(self, scenario: Scenario) -> None:
        try:
            message: Pictured | Noticed = Pictured(picture(scenario))
        except ScenarioError as error:
            message = Noticed(Notice(refusal(error), "error"))
        if not get_current_worker().is_cancelled:
            self.post_message(message)

    def _draw(self, view: Callable[[SchedulePicture, Session], Sequence[Row]]) -> Sequence[Row]:
        return view(self.picture, self.session) if self.picture and self.session else ()

    def _draw_answer(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda picture, session: (schedule_answer(picture, box.width, session.pen),))

    def _draw_timeline(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda picture, session: timeline_of(picture, self.rank, box, session.pen))

    def _draw_legend(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda picture, session: (legend_row(box.width, session.pen),))

    def _draw_table(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda picture, session: stage_table(picture, self.rank, box, session.pen))

    def _draw_definitions(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda picture, session: definitions(picture, box, session.pen))


OTHER_ROWS = 13
"""Rows of the frame, the answer, the legend and the least of the tables."""
