"""A pane that draws what a function says: everything it decides lies in that function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.canvas import LineCanvas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaletui.view.box import Box as BoxType
    from scaletui.view.row import Row


class RowsPane(LineCanvas):
    """A canvas whose rows are a function of the cells it has."""

    def __init__(self, draw: Callable[[BoxType], Sequence[Row]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw = draw

    def build(self, width: int, height: int) -> Sequence[Row]:
        """The rows for the present size."""
        from scaletui.view.box import Box

        return self._draw(Box(width, height))
