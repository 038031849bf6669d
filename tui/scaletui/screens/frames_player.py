"""What the two players over the sharding screen share: frames, on the schedule screen's clock and keys."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, ClassVar, Final

from scaletui.panes.rows import RowsPane
from scaletui.panes.schedule import LanesPane
from scaletui.screens.schedule_player import PlayerScreen
from scaletui.state.playback import Track
from scaletui.view.step_clock import frame_at
from scaletui_themes import stylesheet

if TYPE_CHECKING:
    from textual.events import Resize

    from scaletui.messages import RowClicked, RowScrolled
    from scaletui.state.session import Session
    from scaletui.view.pen import Pen

WIDE: Final = 120
LONGEST_PLAY_S: Final = 60
"""At speed 1 nothing takes longer: of many frames several pass in a second."""
ROWS_A_FRAME: Final = 16
"""Rows of the picture that may be written at once while time runs."""


class FramesPlayer(PlayerScreen):
    """Frames 0 to `last`; the clock's unit is a frame."""

    MODE: ClassVar[str] = "sharding"
    CSS_PATH = [stylesheet("players")]  # noqa: RUF012 (annotated it would break the base class, which is invariant)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._shown = -1
        """The frame that the picture shows."""
        self._behind = False
        """Whether rows of the picture still show an earlier frame."""

    @property
    def last(self) -> int:
        """Index of the last frame."""
        return 0

    @property
    def index(self) -> int:
        """The frame that the playhead is in."""
        return min(int(self._position + 1e-9), self.last)

    @property
    def track(self) -> Track:
        """All frames."""
        return Track(float(self.last), max(1.0, self.last / LONGEST_PLAY_S))

    def tick(self) -> None:
        """The playhead's row; everything else when another frame has come, the picture little by little."""
        self.draw_playhead()
        if self.index != self._shown:
            self._shown, self._behind = self.index, True
            for pane in self.query(RowsPane):
                if not isinstance(pane, LanesPane) and pane.id != self.playhead:
                    pane.rebuild()
        if self._behind:
            self._behind = self.query_one(LanesPane).catch_up(ROWS_A_FRAME)

    playhead: ClassVar[str] = ""
    """Id of the pane that each tick may redraw."""
    track_panes: ClassVar[tuple[str, ...]] = ()
    """Ids of the panes along which time runs."""
    track_start: ClassVar[int] = 0
    """The column in which it begins."""

    def draw_playhead(self) -> None:
        """One row, and what stays of its pane."""
        self.query_one(f"#{self.playhead}", RowsPane).rebuild()

    def redraw(self) -> None:
        """Every pane at once."""
        self._shown, self._behind = self.index, False
        if self.is_mounted:
            super().redraw()

    def on_resize(self, event: Resize) -> None:
        """Rows go to other parts."""
        del event
        self.call_after_refresh(self.redraw)

    def on_row_clicked(self, message: RowClicked) -> None:
        """A click on the track takes the playhead there."""
        if message.pane in self.track_panes and message.x >= self.track_start:
            columns = self.size.width - self.track_start
            self._go(float(frame_at(message.x - self.track_start, self.last, columns)))

    def on_row_scrolled(self, message: RowScrolled) -> None:
        """The wheel walks what up and down walk."""
        self._choose(message.direction)

    def action_step_on(self) -> None:
        """The next frame."""
        self._go(float(min(self.index + 1, self.last)))

    def action_step_back(self) -> None:
        """The frame before."""
        self._go(float(max(ceil(self._position - 1e-9) - 1, 0)))

    def action_out(self) -> None:
        """Back to the screen beneath."""
        self.dismiss()

    def _scrub(self, cells: int) -> None:
        """As many frames as lie on a cell of the playhead's row."""
        step = max(1, self.last // max(self.columns, 1))
        self._go(float(min(max(self.index + cells * step, 0), self.last)))

    @property
    def pen(self) -> Pen:
        """What views draw with."""
        assert self.session is not None
        return self.session.pen

    @property
    def is_wide(self) -> bool:
        """Whether there is a second column."""
        return self.size.width >= WIDE
