"""Writes the scenario to a TOML file, under a name that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from scaletui.panes.rows import RowsPane
from scaletui.state import naming
from scaletui.state.naming import Naming
from scaletui.text.language import tr
from scaletui.view.save import save_rows
from scaletui_engine.scenario_file import dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key, Paste

    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row
    from scaletui_engine.scenario import Scenario


class SaveScreen(ModalScreen[str | None]):
    """Dismissed with the path that was written, or None."""

    def __init__(self, scenario: Scenario, pen: Pen) -> None:
        super().__init__()
        self.scenario = scenario
        self.pen = pen
        self.naming = Naming(naming.suggested_name(scenario))

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
            self._show(Naming(""))
        elif event.is_printable and event.character:
            self._show(naming.typed(self.naming, event.character))

    def on_paste(self, event: Paste) -> None:
        """Pasted text is typed text."""
        self._show(naming.typed(self.naming, event.text.strip()))

    def _save(self) -> None:
        if not self.naming.text.strip():
            return
        path = Path(self.naming.text.strip()).expanduser()
        if path.exists() and not self.naming.asks_again:
            why = tr("{path} exists; Enter once more writes over it", path=path)
            self._show(naming.warned(self.naming, why, asks_again=True))
            return
        try:
            path.write_text(dump(self.scenario), encoding="utf-8")
        except OSError as error:
            self._show(naming.warned(self.naming, f"{error.strerror}: {path}"))
            return
        self.dismiss(str(path))

    def _show(self, wanted: Naming) -> None:
        self.naming = wanted
        self.query_one(RowsPane).rebuild()

    def _draw(self, box: Box) -> Sequence[Row]:
        return save_rows(self.naming, box.width, self.pen)
