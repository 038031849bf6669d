"""Asks for a line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.screens.save import SaveScreen
from scaletui.state.naming import Naming
from scaletui.view.ask import ask_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row


class AskScreen(SaveScreen):
    """Dismissed with what was typed, which may be nothing, or None where it was left."""

    def __init__(self, title: str, hint: str, text: str, pen: Pen) -> None:
        super().__init__(title, Naming(text), pen)
        self._hint = hint

    def _save(self) -> None:
        self.dismiss(self.naming.text)

    def _draw(self, box: Box) -> Sequence[Row]:
        return ask_rows((self._heading, self._hint), self.naming.text, box.width, self.pen)
