"""A pane that draws what a function says: everything it decides lies in that function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.canvas import LineCanvas
from scaletui.messages import RowClicked, RowScrolled
from scaletui.view.box import Box

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.events import Click, MouseScrollDown, MouseScrollUp

    from scaletui.view.row import Row


class RowsPane(LineCanvas):
    """A canvas whose rows are a function of the cells it has."""

    def __init__(self, draw: Callable[[Box], Sequence[Row]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw = draw

    def build(self, width: int, height: int) -> Sequence[Row]:
        """The rows for the present size."""
        return self._draw(Box(width, height))

    def on_click(self, event: Click) -> None:
        """Say where the mouse was clicked; a screen knows what stands there."""
        self.post_message(RowClicked(self.id or "", event.x, event.y, self.size.height))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """The wheel walks a list as the arrow keys do."""
        event.stop()
        self.post_message(RowScrolled(self.id or "", 1))

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """The same backwards."""
        event.stop()
        self.post_message(RowScrolled(self.id or "", -1))
