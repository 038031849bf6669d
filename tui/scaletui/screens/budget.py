"""Budget: does it fit, and what takes the room?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Horizontal
from textual.worker import get_current_worker

from scaletui.commands.scenario_file import read_scenario
from scaletui.messages import Noticed, Studied
from scaletui.panes.rows import RowsPane
from scaletui.picks import scenario_items
from scaletui.screens.beside import BesideScreen
from scaletui.screens.mode import screen_bindings
from scaletui.screens.pick import PickScreen
from scaletui.screens.plan import PlanScreen
from scaletui.state import budget as state
from scaletui.state import editing
from scaletui.state.answer import answer
from scaletui.state.beside import Beside, Side
from scaletui.state.picking import Picking
from scaletui.state.session import Notice
from scaletui.state.study import study
from scaletui.text.language import tr
from scaletui.text.printable import printable
from scaletui.text.refusals import refusal
from scaletui.view.big import BIG_HEIGHT
from scaletui.view.budget_answer import answer_rows
from scaletui.view.budget_big import big_parts_rows
from scaletui.view.budget_details import details_rows
from scaletui.view.budget_explain import explain_rows
from scaletui.view.budget_fixes import fix_items
from scaletui.view.budget_legend import legend_rows
from scaletui.view.budget_lesson import lesson_rows
from scaletui.view.budget_stages import rows_a_bar, stage_rows, window
from scaletui.view.plan import plan_rows
from scaletui_engine.errors import ScenarioError
from scaletui_engine.memory.budget import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.events import Resize
    from textual.timer import Timer
    from textual.widget import Widget

    from scaletui.messages import RowClicked, RowScrolled
    from scaletui.state.answer import Answer
    from scaletui.state.budget import BudgetState
    from scaletui.state.session import Session
    from scaletui.state.study import Study
    from scaletui.view.box import Box
    from scaletui.view.row import Row
    from scaletui_engine.scenario import Scenario

LEAST_BODY: Final = 20
"""Rows that everything but the bars wants: header, answer, parts and title, the step, news and keys."""
PAUSE_S: Final = 0.25
"""How long the reader has to rest before the engine looks closer."""
WHOLE_PLAN: Final = 27
"""The same where every field of the plan is seen at once."""
TALL: Final = 40
FEW: Final = 4
"""From so many rows on, up to so many bars are drawn on two rows each."""
MOST_BARS: Final = 7
"""Rows of bars where not all of the plan is seen."""


class BudgetScreen(PlanScreen):
    """The memory of every pipeline stage against one GPU, and the scenario that makes it."""

    MODE: ClassVar[str] = "budget"
    BINDINGS = screen_bindings("budget")

    def __init__(self) -> None:
        super().__init__()
        self.state = state.BudgetState()
        self._pause: Timer | None = None
        self._asked: tuple[Scenario, int] | None = None
        """What the engine is asked to look at closer, or was last."""
        self._wants_fix = False
        """Whether the list of changes was asked for before the engine had looked."""

    def body(self) -> Iterable[Widget]:
        """Answer and bars across, then the columns."""
        yield RowsPane(self._draw_answer, id="answer")
        yield RowsPane(self._draw_stages, id="stages")
        with Horizontal(id="columns"):
            yield RowsPane(self._draw_parts, id="parts")
            yield RowsPane(self._draw_side, id="side")
            yield RowsPane(self._draw_details, id="details")
            yield RowsPane(self._draw_explain, id="explain")

    def show(self, session: Session) -> None:
        """Take the session's answer in and draw."""
        if session.answer is not None and session.answer is not self.state.answer:
            self.state = state.answered(self.state, session.answer)
        super().show(session)

    def action_compare(self) -> None:
        """Compare with this scenario from now on, or no longer."""
        self.look(state.pinned(self.state))
        held = self.state.pinned is not None
        text = (
            tr("compared with this scenario until c is pressed again") if held else tr("no longer compared")
        )
        self.post_message(Noticed(Notice(text)))

    def action_side_by_side(self) -> None:
        """Beside what is compared with; where that is nothing, beside one of a list."""
        if self.session is None or self.state.answer is None:
            return
        if self.state.pinned is not None:
            self._show_beside(self.state.pinned)
            return
        items = Picking(scenario_items(Path()))
        self.app.push_screen(PickScreen(tr("side by side with"), items, self.session.pen), self._lay_beside)

    def _lay_beside(self, name: str | None) -> None:
        if name is None:
            return
        try:
            other = answer(read_scenario(name))
        except ScenarioError as error:
            self.post_message(Noticed(Notice(printable(refusal(error)), "error")))
        except OSError as error:
            self.post_message(Noticed(Notice(printable(f"{error.strerror}: {name}"), "error")))
        else:
            self._show_beside(other)

    def _show_beside(self, other: Answer) -> None:
        if self.session is not None and self.state.answer is not None:
            beside = Beside(Side(self.state.answer), Side(other))
            self.app.push_screen(BesideScreen(beside, self.session.pen), self._take_other)

    def _take_other(self, other: Scenario | None) -> None:
        if other is not None:
            self.ask(partial(editing.replaced, scenario=other))

    def action_lesson(self) -> None:
        """The lesson's accounting beside this one, or the explanations again."""
        self.look(replace(self.state, shows_lesson=not self.state.shows_lesson))

    def action_fix(self) -> None:
        """Single changes that save memory, to choose one from."""
        study = state.closer_look(self.state)
        if study is None or self.session is None:
            self._wants_fix = self.session is not None
            self.post_message(Noticed(Notice(tr("the engine is still looking"))))
            return
        self._wants_fix = False
        items = Picking(fix_items(study, self.session.pen))
        pick = PickScreen(tr("one change, and what it saves"), items, self.session.pen)
        self.app.push_screen(pick, partial(self._apply, study))

    def _apply(self, study: Study, place: str | None) -> None:
        if place is not None:
            self.ask(partial(editing.replaced, scenario=study.fixes[int(place)].scenario))

    def on_studied(self, message: Studied) -> None:
        """Draw a closer look, unless something else is looked at by now."""
        message.stop()
        self.look(replace(self.state, study=message.study))
        if self._wants_fix and self.is_current and state.closer_look(self.state) is not None:
            self.action_fix()

    def _look_closer(self) -> None:
        """Ask when the reader has stopped for a moment; what is asked before that is forgotten."""
        if self.state.answer is None:
            return
        asked = (self.state.answer.scenario, state.chosen_stage(self.state))
        if self._asked is not None and self._asked[0] is asked[0] and self._asked[1] == asked[1]:
            return
        self._asked = asked
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE_S, partial(self._ask_closer, *asked))

    def _ask_closer(self, scenario: Scenario, stage: int) -> None:
        ask = partial(self._study, scenario, stage)
        self.run_worker(ask, thread=True, exclusive=True, group="study")

    def _study(self, scenario: Scenario, stage: int) -> None:
        found = study(scenario, stage)
        if not get_current_worker().is_cancelled:
            self.post_message(Studied(found))

    def on_resize(self, event: Resize) -> None:
        """Another height leaves another room for bars."""
        del event
        self._make_room()

    def on_row_clicked(self, message: RowClicked) -> None:
        """A click chooses a field, a part or a stage, and gives its list the arrow keys."""
        settled = state.settled(self.state)
        if message.pane == "side" and self.state.focus == "plan":
            super().on_row_clicked(message)
        elif message.pane == "side":
            self.look(replace(settled, focus="plan"))
        elif message.pane == "parts" and 0 < message.y <= len(PARTS):
            self.look(replace(settled, focus="parts", part=PARTS[message.y - 1]))
        elif message.pane == "stages" and self.session is not None and self.state.budget is not None:
            count = len(self.state.budget.stages)
            tall = rows_a_bar(count, message.height, self.session.pen)
            first, _ = window(count, state.chosen_stage(self.state), message.height // tall)
            self.look(replace(settled, focus="stages", stage=first + message.y // tall))

    def on_row_scrolled(self, message: RowScrolled) -> None:
        """The wheel walks the list under it."""
        settled = state.settled(self.state)
        if message.pane == "parts":
            self.look(state.next_part(settled, message.direction))
        elif message.pane == "stages":
            self.look(state.next_stage(settled, message.direction))
        else:
            super().on_row_scrolled(message)

    def action_up(self) -> None:
        """The field, part or stage above."""
        self._walk(-1)

    def action_down(self) -> None:
        """The field, part or stage below."""
        self._walk(1)

    def action_right(self) -> None:
        """The field's next valid value; beside the plan, the next stage."""
        self._sideways(1)

    def action_left(self) -> None:
        """The field's previous valid value; beside the plan, the previous stage."""
        self._sideways(-1)

    def action_step_on(self) -> None:
        """Look at the next stage."""
        self.look(state.next_stage(state.settled(self.state), 1))

    def action_step_back(self) -> None:
        """Look at the previous stage."""
        self.look(state.next_stage(state.settled(self.state), -1))

    def action_next_pane(self) -> None:
        """The arrow keys walk the next list."""
        self.look(state.next_list(state.settled(self.state), 1))

    def action_previous_pane(self) -> None:
        """The arrow keys walk the previous list."""
        self.look(state.next_list(state.settled(self.state), -1))

    def action_type(self) -> None:
        """Open the field for typing."""
        self.look(replace(state.settled(self.state), focus="plan"))
        super().action_type()

    def look(self, wanted: BudgetState) -> None:
        """Draw another picture of the same answer."""
        self.state = wanted
        self.redraw()

    def redraw(self) -> None:
        """Make room for the bars first."""
        self._make_room()
        self._look_closer()
        super().redraw()

    def _walk(self, direction: int) -> None:
        settled = state.settled(self.state)
        if self.state.focus == "plan":
            self.look(settled)
            self.ask(partial(editing.moved, direction=direction))
        elif self.state.focus == "parts":
            self.look(state.next_part(settled, direction))
        else:
            self.look(state.next_stage(settled, direction))

    def _sideways(self, direction: int) -> None:
        if self.state.focus == "plan":
            self.ask(partial(editing.stepped, direction=direction))
        else:
            self.look(state.next_stage(state.settled(self.state), direction))

    def _make_room(self) -> None:
        """Bars get what the rest leaves, and no more than there are stages."""
        budget = self.state.budget
        is_big = self.session is not None and self.session.pen.big
        tall = BIG_HEIGHT if is_big else 1
        room = max(self.size.height - WHOLE_PLAN, min(self.size.height - LEAST_BODY, MOST_BARS), tall)
        count = len(budget.stages) if budget else 1
        if not is_big and self.size.height >= TALL and count <= FEW:
            tall = 2
        self.query_one("#stages").styles.height = min(count * tall, room)
        self.query_one("#answer").set_class(is_big, "-big")

    def _draw_answer(self, box: Box) -> Sequence[Row]:
        return answer_rows(self.state, box.width, self.session.pen) if self.session else ()

    def _draw_stages(self, box: Box) -> Sequence[Row]:
        return stage_rows(self.state, box, self.session.pen) if self.session else ()

    def _draw_parts(self, box: Box) -> Sequence[Row]:
        if self.session is None:
            return ()
        if self.session.pen.big:
            return big_parts_rows(self.state, box, self.session.pen)
        return legend_rows(self.state, box, self.session.pen)

    def _draw_side(self, box: Box) -> Sequence[Row]:
        """The plan; where there is no other column, what belongs to the list that has the arrow keys."""
        if self.session is None:
            return ()
        is_narrow = not (self.has_class("-wide") or self.has_class("-huge"))
        if is_narrow and self.state.shows_lesson:
            return lesson_rows(self.state, box, self.session.pen)
        if is_narrow and self.state.focus == "parts":
            return explain_rows(self.state, box, self.session.pen)
        if is_narrow and self.state.focus == "stages":
            return details_rows(self.state, box, self.session.pen)
        return plan_rows(self.session.editing, box, self.session.pen, focus=self.state.focus == "plan")

    def _draw_details(self, box: Box) -> Sequence[Row]:
        """Stages and ranges; the explanation of a part where it has no column of its own."""
        if self.session is None:
            return ()
        if self.state.shows_lesson and not self.has_class("-huge"):
            return lesson_rows(self.state, box, self.session.pen)
        if self.state.focus == "parts" and not self.has_class("-huge"):
            return explain_rows(self.state, box, self.session.pen)
        return details_rows(self.state, box, self.session.pen)

    def _draw_explain(self, box: Box) -> Sequence[Row]:
        if self.session is None:
            return ()
        draw = lesson_rows if self.state.shows_lesson else explain_rows
        return draw(self.state, box, self.session.pen)
