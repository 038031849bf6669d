"""Two scenarios side by side, over the budget that asked for it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.screen import ModalScreen
from textual.worker import get_current_worker

from scaletui.panes.rows import RowsPane
from scaletui.state.beside import next_stage, swapped, with_steps
from scaletui.view.budget_beside import beside_rows
from scaletui_engine.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key

    from scaletui.messages import RowScrolled
    from scaletui.state.beside import Beside
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

_STEPS = {"full_stop": 1, "comma": -1, "right": 1, "left": -1, "down": 1, "up": -1}


class BesideScreen(ModalScreen[Scenario | None]):
    """Dismissed with the scenario at the right where it is taken, or None."""

    class Stepped(Message):
        """The steps of the two are known."""

        def __init__(self, asked: Beside, found: Beside) -> None:
            super().__init__()
            self.asked = asked
            self.found = found

    def __init__(self, beside: Beside, pen: Pen) -> None:
        super().__init__()
        self.beside = beside
        self.pen = pen

    def compose(self) -> ComposeResult:
        """One pane."""
        yield RowsPane(self._draw, id="beside")

    def on_mount(self) -> None:
        """Ask for the steps, away from the keys."""
        self._show(self.beside)

    def on_beside_screen_stepped(self, message: Stepped) -> None:
        """Draw the steps, unless something else is looked at by now."""
        message.stop()
        if message.asked is self.beside:
            self.beside = message.found
            self.query_one(RowsPane).rebuild()

    def on_key(self, event: Key) -> None:
        """Stages, which side, and the ways out."""
        event.stop()
        event.prevent_default()
        if event.key in ("escape", "ctrl+c", "q", "v"):
            self.dismiss(None)
        elif event.key == "enter":
            self.dismiss(self.beside.other.answer.scenario)
        elif event.key == "x":
            self._show(swapped(self.beside))
        elif event.key in _STEPS:
            self._show(next_stage(self.beside, _STEPS[event.key]))

    def on_row_scrolled(self, message: RowScrolled) -> None:
        """The wheel walks the stages."""
        self._show(next_stage(self.beside, message.direction))

    def _show(self, wanted: Beside) -> None:
        self.beside = wanted
        self.query_one(RowsPane).rebuild()
        self.run_worker(partial(self._ask, wanted), thread=True, exclusive=True, group="beside")

    def _ask(self, wanted: Beside) -> None:
        found = with_steps(wanted)
        if not get_current_worker().is_cancelled:
            self.post_message(self.Stepped(wanted, found))

    def _draw(self, box: Box) -> Sequence[Row]:
        return beside_rows(self.beside, box, self.pen)
