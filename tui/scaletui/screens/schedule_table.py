"""All schedules for one pipeline in a list that fills while they are simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message
from textual.screen import ModalScreen
from textual.worker import get_current_worker

from scaletui.panes.rows import RowsPane
from scaletui.state.schedule_table import entries, grown, moved, turned
from scaletui.view.schedule_table import table_screen_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Click, Key

    from scaletui.messages import RowScrolled
    from scaletui.state.schedule import Question
    from scaletui.state.schedule_table import Entry, Table
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

_STEPS = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "home": -1000, "end": 1000}


class TableScreen(ModalScreen[str | None]):
    """Dismissed with the name of a schedule, or None."""

    class Grown(Message):
        """One schedule more is known."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    def __init__(self, title: str, question: Question, table: Table, pen: Pen) -> None:
        super().__init__()
        self._heading = title
        self.question = question
        self.pen = pen
        self.table = table

    def compose(self) -> ComposeResult:
        """One pane."""
        yield RowsPane(self._draw, id="schedule-table")

    def on_mount(self) -> None:
        """Simulate them one by one, away from the keys."""
        if not self.table.entries:
            self.run_worker(self._simulate, thread=True, exclusive=True, group="schedule-table")

    def on_table_screen_grown(self, message: Grown) -> None:
        """Another line."""
        message.stop()
        self._show(grown(self.table, message.entry))

    def on_key(self, event: Key) -> None:
        """Arrows walk, Enter takes, s sorts by the other figure."""
        event.stop()
        event.prevent_default()
        if event.key in ("escape", "ctrl+c", "q"):
            self.dismiss(None)
        elif event.key == "enter":
            self._take()
        elif event.key == "s":
            self._show(turned(self.table))
        elif event.key in _STEPS:
            self._show(moved(self.table, _STEPS[event.key]))

    def on_row_scrolled(self, message: RowScrolled) -> None:
        """The wheel walks the list."""
        self._show(moved(self.table, message.direction))

    def on_click(self, event: Click) -> None:
        """A click beside the list leaves it."""
        if event.widget is self:
            self.dismiss(None)

    def _take(self) -> None:
        chosen = self.table.chosen
        if chosen is not None:
            self.dismiss(chosen.name)

    def _simulate(self) -> None:
        worker = get_current_worker()
        for entry in entries(self.question):
            if worker.is_cancelled:
                return
            self.post_message(self.Grown(entry))

    def _show(self, wanted: Table) -> None:
        self.table = wanted
        self.query_one(RowsPane).rebuild()

    def _draw(self, box: Box) -> Sequence[Row]:
        return table_screen_rows(self._heading, self.table, self.question, (box, self.pen))
