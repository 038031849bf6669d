"""Replay: the live screen on a recording, with the clock and the keys of the schedule screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from scaletui.messages import Noticed
from scaletui.panes.rows import RowsPane
from scaletui.screens.live import LiveScreen
from scaletui.screens.mode import screen_bindings
from scaletui.screens.ticking import TickingScreen
from scaletui.state import live as live_state
from scaletui.state.playback import Playback, advanced, hastened, paused, placed, toggled
from scaletui.state.replay import at_mark, opened, reel_of, scrubbed, stepped
from scaletui.state.session import Notice
from scaletui.text.language import tr
from scaletui.view.first_frame import FRAME
from scaletui.view.live_answer import header_facts
from scaletui.view.replay_line import (
    HEIGHT,
    column_position,
    columns_of,
    line_rows,
    short_text,
    where_text,
)
from scaletui_engine.live.recording.fault import RecordingError
from scaletui_engine.live.recording.reader import Recording
from scaletui_themes import stylesheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from textual.events import ScreenSuspend
    from textual.widget import Widget

    from scaletui.app import ScaletuiApp
    from scaletui.messages import RowClicked
    from scaletui.view.box import Box
    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import Snapshot


def open_replay(path: str) -> ReplayScreen:
    """The screen on a file. Raises RecordingError and OSError."""
    return ReplayScreen(Recording(path))


class ReplayScreen(LiveScreen, TickingScreen, inherit_bindings=False):
    """A recording in place of a watcher; time runs while it plays and nothing runs while it does not."""

    KEYS: ClassVar[str] = "replay"
    BINDINGS = screen_bindings("replay")
    CSS_PATH = [stylesheet("live"), stylesheet("replay")]  # noqa: RUF012 (as in the base class)
    FRAME_ROWS: ClassVar[int] = FRAME + HEIGHT

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording
        self.reel = reel_of(recording)
        self.playback = opened(recording, self.reel)
        self._number = recording.number_at(self.playback.position)
        self.state = live_state.arrived(self.state, recording.look(self._number))
        self._short = short_text(self.snapshot)

    def body(self) -> Iterable[Widget]:
        """The live screen's, and the time line under it."""
        yield from super().body()
        yield RowsPane(self._line, id="replay-line")

    def begin_watching(self) -> None:
        """There is nothing to watch: show where it stands, and say so once where curves are short."""
        self._redraw_line()
        text, self._short = self._short, ""
        if text:
            self.post_message(Noticed(Notice(text)))

    def on_screen_suspend(self, event: ScreenSuspend) -> None:
        """Time stops while nobody sees it."""
        del event
        self.play(paused(self.playback))

    def on_unmount(self) -> None:
        """The clock ends with its screen."""
        self._run_clock(False)
        self.recording.close()

    def facts(self) -> tuple[str, ...]:
        """That it is a replay and where it is, before what the job is."""
        if self.session is None:
            return ()
        where = where_text(self.reel, self.playback)
        return (tr("REPLAY {where}", where=where), *header_facts(self.state))

    def looks(self) -> Iterator[Snapshot]:
        """Every look of the file, read on its own: the screen goes on meanwhile."""
        with Recording(self.recording.path) as recording:
            yield from (recording.look(number) for number in range(recording.looks))

    def play(self, wanted: Playback) -> None:
        """Another place, speed or state of the clock: show its look, start or stop the timer."""
        before, self.playback = self.playback, wanted
        if wanted.playing != before.playing:
            self._run_clock(wanted.playing)
        if not self._show_look():
            self._redraw_line()

    def _show_look(self) -> bool:
        """Show the look of this moment; whether it is another one."""
        number = self.recording.number_at(self.playback.position)
        if number == self._number:
            return False
        try:
            look = self.recording.look(number)
        except RecordingError as error:
            self.playback = paused(self.playback)
            self._run_clock(False)
            self.post_message(Noticed(Notice(str(error), "error")))
            return False
        self._number = number
        self.look(live_state.arrived(self.state, look))
        return True

    def _redraw_line(self) -> None:
        if self.is_mounted:
            self.tell_header()
            self.query_one("#replay-line", RowsPane).rebuild()

    def passed(self, seconds: float) -> None:
        """The recording goes on."""
        self.play(advanced(self.playback, self.reel.track, seconds))

    def action_run(self) -> None:
        """Play or pause; where motion is to be reduced, time moves by steps alone."""
        options = cast("ScaletuiApp", self.app).options
        if not self.playback.playing and not options.motion:
            self.post_message(Noticed(Notice(tr("reduced motion: . and , step through time"))))
            return
        self.play(toggled(self.playback, self.reel.track))

    def action_step_on(self) -> None:
        """The next look."""
        self.play(stepped(self.playback, self.recording, 1))

    def action_step_back(self) -> None:
        """The look before."""
        self.play(stepped(self.playback, self.recording, -1))

    def action_later(self) -> None:
        """One cell of the time line on."""
        self.play(scrubbed(self.playback, self.reel, 1, columns_of(self.size.width)))

    def action_earlier(self) -> None:
        """One cell back."""
        self.play(scrubbed(self.playback, self.reel, -1, columns_of(self.size.width)))

    def action_to_start(self) -> None:
        """The first look."""
        self.play(placed(self.playback, self.reel.track, 0.0))

    def action_to_end(self) -> None:
        """The last look."""
        self.play(placed(self.playback, self.reel.track, self.reel.duration_s))

    def action_faster(self) -> None:
        """Twice the speed."""
        self.play(hastened(self.playback, 1))

    def action_slower(self) -> None:
        """Half the speed."""
        self.play(hastened(self.playback, -1))

    def action_next_event(self) -> None:
        """Where something happened next."""
        self._to_mark(1)

    def action_previous_event(self) -> None:
        """Where something happened before."""
        self._to_mark(-1)

    def action_other_job(self) -> None:
        """The next job; behind the last the first again."""
        count = len(live_state.jobs(self.state))
        is_last = live_state.job_index(self.state) == count - 1
        self.look(live_state.other_job(self.state, -count if is_last else 1))

    def on_row_clicked(self, message: RowClicked) -> None:
        """A click on the time line goes there."""
        if message.pane == "replay-line":
            self.play(placed(self.playback, self.reel.track, self._position_at(message)))

    def _position_at(self, message: RowClicked) -> float:
        return column_position(self.reel, message.x, self.size.width)

    def _to_mark(self, direction: int) -> None:
        wanted = at_mark(self.playback, self.reel, direction)
        if wanted is self.playback:
            self.post_message(Noticed(Notice(tr("nothing happened there"))))
        else:
            self.play(wanted)

    def _line(self, box: Box) -> Sequence[Row]:
        if self.session is None:
            return ()
        return line_rows(self.reel, self.playback, box.width, self.session.pen)
