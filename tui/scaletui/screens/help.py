"""The help of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from scaletui.panes.rows import RowsPane
from scaletui.view.box import Box
from scaletui.view.help import help_page, last_top

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key

    from scaletui.view.pen import Pen
    from scaletui.view.row import Row


class HelpScreen(ModalScreen[None]):
    """Every key of one mode; arrows scroll, any other key leaves."""

    def __init__(self, mode: str, pen: Pen) -> None:
        super().__init__()
        self.mode = mode
        self.pen = pen
        self.top = 0

    def compose(self) -> ComposeResult:
        """One pane."""
        yield RowsPane(self._draw, id="help")

    def on_key(self, event: Key) -> None:
        """Scroll or leave."""
        event.stop()
        event.prevent_default()
        pane = self.query_one(RowsPane)
        page = max(pane.size.height - 2, 1)
        steps = {"up": -1, "down": 1, "pageup": -page, "pagedown": page, "home": -1000, "end": 1000}
        if event.key not in steps:
            self.dismiss(None)
            return
        last = last_top(self.mode, Box(pane.size.width, pane.size.height), self.pen)
        self.top = min(max(self.top + steps[event.key], 0), last)
        pane.rebuild()

    def _draw(self, box: Box) -> Sequence[Row]:
        return help_page(self.mode, self.top, box, self.pen)
