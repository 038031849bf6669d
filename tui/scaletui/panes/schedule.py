"""The lanes of a schedule: a turned page is written a few rows a frame while time runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.canvas import changed_lines
from scaletui.panes.rows import RowsPane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.view.row import Row


class LanesPane(RowsPane):
    """Knows how to catch up with what it ought to show."""

    def catch_up(self, most: int) -> bool:
        """Write at most that many rows that differ; whether more are left."""
        width, height = self.content_size
        wanted: Sequence[Row] = self.build(width, height)
        shown = [*self.rows[: len(wanted)], *([()] * (len(wanted) - len(self.rows)))]
        changed = changed_lines(shown, wanted)
        for y in changed[:most]:
            shown[y] = wanted[y]
        if changed:
            self.paint(shown)
        return len(changed) > most
