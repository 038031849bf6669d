"""Asks for the name of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from scaletui.panes.rows import RowsPane
from scaletui.state import naming
from scaletui.text.language import tr
from scaletui.view.save import save_rows
from scaletui.writing import meant, stands_there

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key, Paste

    from scaletui.state.naming import Naming
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row


class SaveScreen(ModalScreen[str | None]):
    """Dismissed with a path that may be written to, or None; a file that exists is asked about."""

    def __init__(self, title: str, wanted: Naming, pen: Pen) -> None:
        super().__init__()
        self._heading = title
        self.naming = wanted
        self.pen = pen

    def compose(self) -> ComposeResult:
        """One pane."""
        yield RowsPane(self._draw, id="save")

    def on_key(self, event: Key) -> None:
        """Letters are the name."""
        event.stop()
        event.prevent_default()
        if event.key in ("escape", "ctrl+c"):
            self.dismiss(None)
        elif event.key == "enter":
            self._save()
        elif event.key == "backspace":
            self._show(naming.erased(self.naming))
        elif event.key == "ctrl+u":
            self._show(naming.emptied(self.naming))
        elif event.is_printable and event.character:
            self._show(naming.typed(self.naming, event.character))

    def on_paste(self, event: Paste) -> None:
        """Pasted text is typed text."""
        self._show(naming.typed(self.naming, event.text.strip()))

    def _save(self) -> None:
        if not self.naming.text.strip():
            return
        if not self.naming.is_known_kind:
            kinds = ", ".join(self.naming.kinds)
            self._show(naming.warned(self.naming, tr("the name ends in one of {kinds}", kinds=kinds)))
            return
        path = meant(self.naming.text)
        if stands_there(path) and not self.naming.asks_again:
            why = tr("{path} exists; Enter once more writes over it", path=path)
            self._show(naming.warned(self.naming, why, asks_again=True))
            return
        self.dismiss(str(path))

    def _show(self, wanted: Naming) -> None:
        self.naming = wanted
        self.query_one(RowsPane).rebuild()

    def _draw(self, box: Box) -> Sequence[Row]:
        return save_rows(self._heading, self.naming, box.width, self.pen)
