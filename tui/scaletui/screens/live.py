"""Live: is the job healthy, and does it do what was predicted?"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.containers import Horizontal, Vertical
from textual.worker import get_current_worker

from scaletui.live.messages import SnapshotArrived
from scaletui.live.watcher import INTERVAL_OVER_SSH_S, INTERVAL_S, Watcher
from scaletui.panes.frame import HeaderPane
from scaletui.panes.rows import RowsPane
from scaletui.screens.exporting import ExportingScreen
from scaletui.screens.live_pages import PageScreen
from scaletui.screens.mode import screen_bindings
from scaletui.state import live as state
from scaletui.view.black_box import black_box_rows
from scaletui.view.box import Box
from scaletui.view.first_frame import FRAME
from scaletui.view.live_alerts import alert_rows
from scaletui.view.live_answer import answer_rows, header_facts
from scaletui.view.live_compare import compare_rows
from scaletui.view.live_details import details_rows
from scaletui.view.live_driver_words import trouble_facts
from scaletui.view.live_empty import empty_rows
from scaletui.view.live_explain import explain_rows
from scaletui.view.live_faults import fault_facts
from scaletui.view.live_ranks import rank_height, ranks_rows, shown_ranks
from scaletui.view.live_room import room_for
from scaletui.view.live_skew import skew_rows
from scaletui.view.live_starting import starting_rows
from scaletui.view.live_trend import trend_rows
from scaletui_themes import stylesheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.events import Resize, ScreenSuspend
    from textual.widget import Widget

    from scaletui.app import ScaletuiApp
    from scaletui.messages import RowClicked, RowScrolled
    from scaletui.state.live import LiveState
    from scaletui.state.session import Session
    from scaletui.view.row import Row
    from scaletui_engine.live.snapshot import Snapshot


class LiveScreen(PageScreen, ExportingScreen):
    """The ranks of a running job, what they hold beside what was predicted, and how it goes on."""

    MODE: ClassVar[str] = "live"
    BINDINGS = screen_bindings("live")
    FRAME_ROWS: ClassVar[int] = FRAME
    CSS_PATH = [stylesheet("live")]  # noqa: RUF012 (annotated it would break the base class, which is invariant)

    def __init__(self) -> None:
        super().__init__()
        self.watcher: Watcher | None = None

    def body(self) -> Iterable[Widget]:
        """The answer across, then ranks, comparison and trend; or what to do when there is no job."""
        yield RowsPane(self._answer, id="live-answer")
        yield RowsPane(self._alerts, id="live-alerts")
        with Horizontal(id="live-columns"):
            with Vertical(id="live-main"):
                yield RowsPane(self._ranks, id="live-ranks")
                yield RowsPane(self._skew, id="live-skew")
                yield RowsPane(self._compare, id="live-compare")
                yield RowsPane(self._trend, id="live-trend")
                yield self.page_pane()
            yield RowsPane(self._details, id="live-details")
            yield RowsPane(self._explain, id="live-explain")
        yield self.gpu_pane()
        yield RowsPane(self._empty, id="live-empty")

    def on_screen_resume(self) -> None:
        """Watch as long as somebody can see it."""
        super().on_screen_resume()
        self.begin_watching()

    def begin_watching(self) -> None:
        """Ask the sources, in a thread."""
        if self.watcher is None:
            options = cast("ScaletuiApp", self.app).options
            remote = "SSH_CONNECTION" in os.environ or "SSH_TTY" in os.environ
            interval_s = options.interval_s or (INTERVAL_OVER_SSH_S if remote else INTERVAL_S)
            self.watcher = Watcher(options.ring_dir, interval_s)
            self.state = replace(self.state, sought=options.process)
        self.run_worker(self._watch, thread=True, exclusive=True, group="live")

    def on_screen_suspend(self, event: ScreenSuspend) -> None:
        """Nobody can see it."""
        del event
        self.workers.cancel_group(self, "live")

    @property
    def snapshot(self) -> Snapshot | None:
        """What is shown."""
        return self.state.shown

    def on_unmount(self) -> None:
        """Give the watcher's descriptors back."""
        if self.watcher is not None:
            self.watcher.close()

    def _watch(self) -> None:
        worker, watcher = get_current_worker(), self.watcher

        def hand_on(snapshot: Snapshot) -> None:
            self.post_message(SnapshotArrived(snapshot))

        if watcher is not None:
            watcher.run(hand_on, lambda: worker.is_cancelled)

    def on_snapshot_arrived(self, message: SnapshotArrived) -> None:
        """Show it, unless the picture stands still."""
        self.look(state.arrived(self.state, message.snapshot))

    def show(self, session: Session) -> None:
        """Draw with the session's pen."""
        super().show(session)
        self.redraw()

    def on_resize(self, event: Resize) -> None:
        """Another height leaves another room for ranks."""
        del event
        self._make_room()

    def look(self, wanted: LiveState) -> None:
        """Draw another picture."""
        self.state = wanted
        self.redraw()

    def redraw(self) -> None:
        """Hand every pane its rows; those that are equal cost nothing."""
        self.set_class(state.job(self.state) is None, "-empty")
        self.set_class(self.state.page is not state.Page.LIST, "-page")
        self._make_room()
        self.tell_header()
        for pane in self.query(RowsPane):
            pane.rebuild()

    def action_play(self) -> None:
        """Stop the picture, or let it go on."""
        self.look(state.paused(self.state))

    def action_up(self) -> None:
        """The rank above, or the GPU."""
        if not self.walk_gpus(-1) and not self.walk(0, -1):
            self.look(state.other_rank(self.state, -1))

    def action_down(self) -> None:
        """The rank below, or the GPU."""
        if not self.walk_gpus(1) and not self.walk(0, 1):
            self.look(state.other_rank(self.state, 1))

    def action_step_on(self) -> None:
        """The next rank."""
        if not self.walk(1, 0):
            self.action_down()

    def action_step_back(self) -> None:
        """The rank before."""
        if not self.walk(-1, 0):
            self.action_up()

    def action_next_job(self) -> None:
        """Look at the next job; on the map, at the next cell."""
        if not self.walk(1, 0):
            self.look(state.other_job(self.state, 1))

    def action_previous_job(self) -> None:
        """Look at the job before; on the map, at the cell before."""
        if not self.walk(-1, 0):
            self.look(state.other_job(self.state, -1))

    def on_row_clicked(self, message: RowClicked) -> None:
        """A click chooses a rank or a GPU."""
        if self.click_gpu(message) or self.click_page(message):
            return
        if message.pane != "live-ranks" or self.session is None or message.y < 1:
            return
        first, last = shown_ranks(self.state, message.height, self.session.pen)
        place = first + (message.y - 1) // rank_height(self.session.pen)
        if place < last:
            self.look(state.rank_at(self.state, place))

    def on_row_scrolled(self, message: RowScrolled) -> None:
        """The wheel walks the ranks, or the GPUs."""
        if not self.walk_gpus(message.direction):
            self.look(state.other_rank(self.state, message.direction))

    def _make_room(self) -> None:
        """Give every pane its rows."""
        if self.session is None:
            return
        width = self.query_one("#live-main").size.width or self.size.width
        room = room_for(self.state, Box(width, self.size.height - self.FRAME_ROWS), self.session.pen)
        heights = {
            "live-answer": room.answer, "live-alerts": room.alerts, "live-ranks": room.ranks,
            "live-skew": room.skew, "live-compare": room.compare,
        }  # fmt: skip
        for name, height in heights.items():
            pane = self.query_one(f"#{name}")
            if pane.styles.height is None or pane.styles.height.value != height:
                pane.styles.height = height

    def facts(self) -> tuple[str, ...]:
        """What the header says in place of the scenario."""
        pen = None if self.session is None else self.session.pen
        options = cast("ScaletuiApp", self.app).options
        stopped = filter(None, (options.stopped(),)) if options.stopped else ()
        troubles = () if pen is None else trouble_facts(self.snapshot, pen)
        return (*stopped, *troubles, *fault_facts(self.snapshot), *header_facts(self.state))

    def tell_header(self) -> None:
        """Hand the header its facts, where they are others."""
        header = self.query_one(HeaderPane)
        facts = self.facts()
        if header.facts != facts:
            header.facts = facts
            header.rebuild()

    def _answer(self, box: Box) -> Sequence[Row]:
        if self.session is None:
            return ()
        starting = cast("ScaletuiApp", self.app).options.starting
        if starting is not None and self.state.shown is not None and state.job(self.state) is None:
            return starting_rows(starting, self.state.shown.moment, box.width, self.session.pen)
        return answer_rows(self.state, box.width, self.session.pen)

    def _alerts(self, box: Box) -> Sequence[Row]:
        if self.session is None:
            return ()
        screen = Box(box.width, self.size.height - self.FRAME_ROWS)
        return alert_rows(self.state, screen, self.session.pen)[: box.height]

    def _skew(self, box: Box) -> Sequence[Row]:
        return (
            () if self.session is None else skew_rows(self.state, box.width, self.session.pen)[: box.height]
        )

    def _ranks(self, box: Box) -> Sequence[Row]:
        return () if self.session is None else ranks_rows(self.state, box, self.session.pen)

    def _compare(self, box: Box) -> Sequence[Row]:
        return () if self.session is None else compare_rows(self.state, box, self.session.pen)

    def _trend(self, box: Box) -> Sequence[Row]:
        if self.session is None:
            return ()
        pen = self.session.pen
        return black_box_rows(self.state, box, pen) or trend_rows(self.state, box, pen)

    def _details(self, box: Box) -> Sequence[Row]:
        return () if self.session is None else details_rows(self.state, box, self.session.pen)

    def _explain(self, box: Box) -> Sequence[Row]:
        return () if self.session is None else explain_rows(self.state, box, self.session.pen)

    def _empty(self, box: Box) -> Sequence[Row]:
        if self.session is None or self.state.shown is None:
            return ()
        return empty_rows(self.state.shown, box, self.session.pen)
