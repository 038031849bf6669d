"""A list to choose from, over the screen that asked for it.

The library's command palette is not used: its strings cannot be translated, and its icon is an emoji.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from scaletui.panes.rows import RowsPane
from scaletui.state import picking
from scaletui.view.picker import picker_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Click, Key, Paste

    from scaletui.state.picking import Picking
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row


class PickScreen(ModalScreen[str | None]):
    """Dismissed with the id of the chosen item, or None."""

    def __init__(self, title: str, items: Picking, pen: Pen) -> None:
        super().__init__()
        self._heading = title
        self.picking = items
        self.pen = pen

    def compose(self) -> ComposeResult:
        """One pane."""
        yield RowsPane(self._draw, id="picker")

    def on_key(self, event: Key) -> None:
        """Letters narrow the list, arrows walk it."""
        event.stop()
        event.prevent_default()
        if event.key in ("escape", "ctrl+c"):
            self.dismiss(None)
        elif event.key == "enter":
            self._choose()
        else:
            self._edit(event)

    def on_paste(self, event: Paste) -> None:
        """Pasted text is typed text."""
        self._show(picking.typed(self.picking, event.text.strip()))

    def on_click(self, event: Click) -> None:
        """A click beside the list leaves it."""
        if event.widget is self:
            self.dismiss(None)

    def _edit(self, event: Key) -> None:
        steps = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "home": -len(self.picking.items)}
        if event.key in steps:
            self._show(picking.moved(self.picking, steps[event.key]))
        elif event.key == "end":
            self._show(picking.moved(self.picking, len(self.picking.items)))
        elif event.key == "backspace":
            self._show(picking.erased(self.picking))
        elif event.is_printable and event.character:
            self._show(picking.typed(self.picking, event.character))

    def _choose(self) -> None:
        chosen = self.picking.chosen
        self.dismiss(None if chosen is None else chosen.id)

    def _show(self, wanted: Picking) -> None:
        self.picking = wanted
        self.query_one(RowsPane).rebuild()

    def _draw(self, box: Box) -> Sequence[Row]:
        return picker_rows(self._heading, self.picking, box, self.pen)
