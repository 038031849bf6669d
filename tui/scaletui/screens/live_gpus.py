"""The part of the live screen that lists GPUs: a key puts it in place of the ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.panes.rows import RowsPane
from scaletui.screens.mode import ModeScreen
from scaletui.state.live_driver import GpuLook, moved, placed, toggled
from scaletui.view.live_gpus import gpu_rows, place_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.messages import RowClicked
    from scaletui.view.box import Box
    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import Snapshot

PANE = "live-gpus"


class GpuScreen(ModeScreen):
    """Keeps which GPU is looked at; the live screen keeps the snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self.gpus = GpuLook()

    @property
    def snapshot(self) -> Snapshot | None:
        """What is shown."""
        return None

    def gpu_pane(self) -> RowsPane:
        """The list, hidden until it is asked for."""
        return RowsPane(self._gpu_rows, id=PANE)

    def action_gpus(self) -> None:
        """Every GPU as the driver sees it, or the ranks."""
        self._look_at(toggled(self.gpus))

    def walk_gpus(self, by: int) -> bool:
        """The GPU below or above; whether the arrow keys are the list's at all."""
        if self.gpus.is_open:
            self._look_at(moved(self.gpus, by, self._count))
        return self.gpus.is_open

    def click_gpu(self, message: RowClicked) -> bool:
        """A click chooses a GPU; whether it was for the list."""
        if message.pane != PANE:
            return False
        place = place_at(message.y, self.gpus, self._count, message.height)
        if place is not None:
            self._look_at(placed(self.gpus, place))
        return True

    @property
    def _count(self) -> int:
        return 0 if self.snapshot is None else len(self.snapshot.drivers)

    def _look_at(self, wanted: GpuLook) -> None:
        self.gpus = wanted
        self.set_class(wanted.is_open, "-gpus")
        self.query_one(f"#{PANE}", RowsPane).rebuild()

    def _gpu_rows(self, box: Box) -> Sequence[Row]:
        if self.session is None or self.snapshot is None:
            return ()
        return gpu_rows(self.snapshot, self.gpus, box, self.session.pen)
