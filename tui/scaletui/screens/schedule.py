"""Schedule: where does the time go?"""

from __future__ import annotations

import gc
from dataclasses import replace as replaced
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from scaletui.messages import Noticed, Pictured
from scaletui.panes.rows import RowsPane
from scaletui.panes.schedule import LanesPane
from scaletui.screens.mode import screen_bindings
from scaletui.screens.schedule_player import PlayerScreen
from scaletui.screens.schedule_table import TableScreen
from scaletui.state import editing
from scaletui.state.playback import carried
from scaletui.state.schedule import Question, picture
from scaletui.state.schedule_look import laid_beside, ranked
from scaletui.state.schedule_sight import track_of
from scaletui.state.schedule_table import Table, entries
from scaletui.state.session import Notice
from scaletui.text.language import tr
from scaletui.text.refusals import refusal
from scaletui.view.big import BIG_HEIGHT
from scaletui.view.box import Box
from scaletui.view.plan import plan_rows
from scaletui.view.schedule import (
    answer_rows,
    below_rows,
    details_rows,
    ranking_rows,
    wide_below_rows,
)
from scaletui.view.schedule_explain import explain_rows
from scaletui.view.schedule_head import head_rows, playhead_row
from scaletui.view.schedule_lanes import label_width, lane_rows
from scaletui.view.schedule_layout import HEAD, LEAST_PLAN, WIDE_WORDS, WORDS, Layout, layout_of
from scaletui_engine.errors import ScenarioError
from scaletui_themes import stylesheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.events import Resize
    from textual.widget import Widget

    from scaletui.state.schedule_look import Look
    from scaletui.state.schedule_sight import Sight
    from scaletui.state.session import Session
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

FRAME: Final = 3
"""Header, news and keys."""
WIDE: Final = 120
HUGE: Final = 180
LABEL: Final = 5
"""Cells of the shortest label."""
SIDE: Final = 42
EXPLAIN: Final = 48
"""Columns of the second and third column, their margin included."""
MOST_TABULATED: Final = 4096
"""Ranks x microbatches for which all schedules are simulated before anybody asks."""
ROWS_A_FRAME: Final = 2
"""Lanes that a frame may write while time runs."""


class ScheduleScreen(PlayerScreen):
    """One step of the plan's pipeline, rank by rank against time."""

    MODE: ClassVar[str] = "schedule"
    BINDINGS = screen_bindings("schedule")
    CSS_PATH = [stylesheet("schedule")]  # noqa: RUF012 (annotated it would break the base class, which is invariant)

    class Tabulated(Message):
        """All schedules were simulated for a question."""

        def __init__(self, question: Question, table: Table) -> None:
            super().__init__()
            self.question = question
            self.table = table

    def __init__(self) -> None:
        super().__init__()
        self.asked: Question | None = None
        """What is being simulated, or was last."""
        self._shown_action = -1
        self._page: object = None
        self._drawn: tuple[Layout, int] | None = None
        self.table = Table()
        """All schedules, where there is room for them beneath the lanes."""

    def body(self) -> Iterable[Widget]:
        """The answer across; the timeline, then what it means at its side."""
        yield RowsPane(self._draw_answer, id="schedule-answer")
        with Horizontal(id="schedule-columns"):
            with Vertical(id="schedule-main"):
                yield RowsPane(self._draw_head, id="schedule-head")
                yield LanesPane(self._draw_lanes, id="schedule-lanes")
                yield RowsPane(self._draw_below, id="schedule-below")
            with Vertical(id="schedule-side"):
                yield RowsPane(self._draw_details, id="schedule-details")
                yield RowsPane(self.draw_plan, id="side")
            yield RowsPane(self._draw_explain, id="schedule-explain")

    def show(self, session: Session) -> None:
        """Ask about another scenario, and draw."""
        super().show(session)
        self._ask()

    def look_at(self, look: Look) -> None:
        """Another look may be another question."""
        super().look_at(look)
        self._ask()

    def on_pictured(self, message: Pictured) -> None:
        """Draw a simulation, unless something else has been asked since."""
        message.stop()
        if message.picture.question is not self.asked:
            return
        old, self.picture = self.picture, message.picture
        if old is None:
            # What is alive now stays: to look through all of it for garbage would hold up a key for 40 ms.
            gc.freeze()
        look = ranked(self.look, self.look.rank, message.picture.ranks)
        if old is not None:
            playback = carried(look.playback, track_of(old), track_of(message.picture))
            look = replaced(look, playback=playback, pan=0)
        self.look_at(look)
        if message.picture.refusals:
            self.look_at(replaced(self.look, beside=tuple(run.name for run in message.picture.runs[1:])))
            self.post_message(Noticed(Notice("; ".join(message.picture.refusals), "error")))

    def on_schedule_screen_tabulated(self, message: Tabulated) -> None:
        """Keep the table, for the rows beneath the lanes and for the key that opens it."""
        message.stop()
        if message.question is self.asked:
            self.table = message.table
            self.redraw()

    def on_resize(self, event: Resize) -> None:
        """Rows go to other parts."""
        del event
        self.call_after_refresh(self.redraw)

    def redraw(self) -> None:
        """Give every part its rows first."""
        sight = self.sight
        if sight is not None and self.session is not None:
            self._drawn = None
            self.query_one("#schedule-lanes").styles.height = self._drawing(sight)[0].lanes
            self.query_one("#schedule-answer").styles.height = BIG_HEIGHT if self._pen.big else 1
            self._shown_action = self._action(sight)
            self._page = self._page_of(sight)
        super().redraw()

    def tick(self) -> None:
        """The playhead's row; the words when another action has begun; a turned page little by little."""
        sight = self.sight
        if sight is None:
            return
        head = self.query_one("#schedule-head", RowsPane)
        title, *_ = head.rows or ((),)
        head.paint((title, playhead_row(sight, self._label(sight), head.size.width, self._pen)))
        action = self._action(sight)
        if action != self._shown_action:
            self._shown_action = action
            self.query_one("#schedule-details" if self._is_wide else "#schedule-below", RowsPane).rebuild()
        page = self._page_of(sight)
        if page != self._page and not self.query_one(LanesPane).catch_up(ROWS_A_FRAME):
            self._page = page
            head.rebuild()
            self.query_one("#schedule-below", RowsPane).rebuild()

    @property
    def columns(self) -> int:
        """Cells that time is drawn on."""
        sight = self.sight
        return max(self._width - self._label(sight), 1) if sight else 1

    def draw_plan(self, box: Box) -> Sequence[Row]:
        """The fields; they take the arrow keys when they are asked to."""
        if self.session is None:
            return ()
        return plan_rows(self.session.editing, box, self._pen, focus=self.look.edits)

    def action_table(self) -> None:
        """All schedules; the chosen one becomes the plan's."""
        self._open_table(tr("all schedules"), self._take)

    def action_beside(self) -> None:
        """All schedules; the chosen one goes on the same time axis, or off it."""
        self._open_table(tr("compare with"), self._lay_beside)

    def _open_table(self, title: str, then: Callable[[str | None], None]) -> None:
        if self.picture is not None and self.session is not None:
            question = replaced(self.picture.question, beside=self.look.beside)
            table = replaced(self.table, name=question.scenario.plan.schedule)
            self.app.push_screen(TableScreen(title, question, table, self._pen), then)

    def _take(self, name: str | None) -> None:
        if name is not None:
            self.ask(partial(editing.set_field, field="schedule", text=name))

    def _lay_beside(self, name: str | None) -> None:
        if name is not None and self.picture is not None:
            own = self.picture.runs[0].name
            if name == own:
                self.post_message(Noticed(Notice(tr("{name} is what is shown already", name=own))))
            self.look_at(laid_beside(self.look, name, own))

    def _ask(self) -> None:
        if self.session is None or not self.is_mounted:
            return
        look = self.look
        question = Question(self.session.editing.scenario, look.unit, look.beside, look.messages, look.update)
        if self.asked is not None and same(question, self.asked):
            return
        self.asked, self.table = question, Table()
        self.run_worker(partial(self._simulate, question), thread=True, exclusive=True, group="schedule")

    def _simulate(self, question: Question) -> None:
        try:
            message: Pictured | Noticed = Pictured(picture(question))
        except ScenarioError as error:
            message = Noticed(Notice(refusal(error), "error"))
        worker = get_current_worker()
        if not worker.is_cancelled:
            self.post_message(message)
        if isinstance(message, Pictured) and question.places <= MOST_TABULATED:
            found = tuple(takewhile(lambda _: not worker.is_cancelled, entries(question)))
            if not worker.is_cancelled:
                self.post_message(self.Tabulated(question, Table(found)))

    @property
    def _pen(self) -> Pen:
        assert self.session is not None
        return self.session.pen

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= WIDE

    @property
    def _width(self) -> int:
        """Cells of the first column."""
        beside = SIDE * self._is_wide + EXPLAIN * (self.size.width >= HUGE)
        return max(self.size.width - beside, 1)

    def _drawing(self, sight: Sight) -> tuple[Layout, int]:
        """Layout and width of labels; a tick of the clock changes neither."""
        if self._drawn is None:
            layout = self._new_layout(sight)
            self._drawn = (layout, label_width(sight, layout, self._pen))
        return self._drawn

    def _layout(self, sight: Sight) -> Layout:
        return self._drawing(sight)[0]

    def _new_layout(self, sight: Sight) -> Layout:
        answer = BIG_HEIGHT if self._pen.big else 1
        words = WIDE_WORDS if self._is_wide else (LEAST_PLAN,) if self.look.edits else WORDS
        box = Box(self._width - LABEL, max(self.size.height - FRAME - answer, HEAD))
        return layout_of(sight, box, self._pen, words)

    def _label(self, sight: Sight) -> int:
        return self._drawing(sight)[1]

    def _action(self, sight: Sight) -> int:
        return sight.own.chart.index_at(self.look.rank, self.look.playback.position)

    def _page_of(self, sight: Sight) -> object:
        return sight.stretch(self.columns)

    def _draw(self, view: Callable[[Sight, Pen], Sequence[Row]]) -> Sequence[Row]:
        sight = self.sight
        return view(sight, self._pen) if sight else ()

    def _draw_answer(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: answer_rows(sight, box.width, pen))

    def _draw_head(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: head_rows(sight, self._layout(sight), box.width, pen))

    def _draw_lanes(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: lane_rows(sight, self._layout(sight), box.width, pen))

    def _draw_below(self, box: Box) -> Sequence[Row]:
        if self.look.edits and not self._is_wide:
            return self.draw_plan(box)
        if not self._is_wide:
            return self._draw(lambda sight, pen: below_rows(sight, self._label(sight), box, pen))
        rows = self._draw(lambda sight, pen: wide_below_rows(sight, self._label(sight), box, pen))
        room = Box(box.width, box.height - len(rows))
        return (*rows, *self._draw(lambda sight, pen: ranking_rows(sight, self.table, room, pen)))

    def _draw_details(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: details_rows(sight, box, pen)) if self._is_wide else ()

    def _draw_explain(self, box: Box) -> Sequence[Row]:
        return self._draw(lambda sight, pen: explain_rows(sight, box, pen)) if self._is_wide else ()


def same(one: Question, other: Question) -> bool:
    """Scenarios are told by identity: comparing every field of two is slower than asking again."""
    return one.scenario is other.scenario and replaced(one, scenario=other.scenario) == other
