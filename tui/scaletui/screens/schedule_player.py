"""The keys of the schedule screen: each replaces the reader's look, and the clock does the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual.screen import ModalScreen

from scaletui.messages import Noticed
from scaletui.screens.plan import PlanScreen
from scaletui.screens.ticking import TickingScreen
from scaletui.state import editing, schedule_look
from scaletui.state.playback import Track, advanced, paused, toggled
from scaletui.state.schedule import Unit
from scaletui.state.schedule_look import Look
from scaletui.state.schedule_sight import Sight, caps_of, track_of
from scaletui.state.session import Notice
from scaletui.text.language import tr

if TYPE_CHECKING:
    from scaletui.app import ScaletuiApp
    from scaletui.state.answer import Answer
    from scaletui.state.schedule import Run, SchedulePicture


class PlayerScreen(PlanScreen, TickingScreen):
    """A picture, a look at it, and a timer that exists while time runs."""

    def __init__(self) -> None:
        super().__init__()
        self.picture: SchedulePicture | None = None
        self.look = Look()
        self._capped: tuple[SchedulePicture, Answer | None] | None = None
        """What the caps are of."""
        self._caps: tuple[float, ...] = ()

    @property
    def sight(self) -> Sight | None:
        """What there is to draw."""
        if self.picture is None or self.session is None:
            return None
        about = (self.picture, self.session.answer)
        if self._capped != about:
            self._capped, self._caps = about, caps_of(*about)
        return Sight(self.picture, self.look, self._caps)

    @property
    def track(self) -> Track:
        """What is played; nothing before there is a picture."""
        return track_of(self.picture) if self.picture else Track(0.0)

    @property
    def columns(self) -> int:
        """Cells that time is drawn on."""
        return 1

    def look_at(self, look: Look) -> None:
        """Another look: start or stop the clock, and draw."""
        before, self.look = self.look, look
        if look.playback.playing != before.playback.playing:
            self._run_clock(look.playback.playing)
        self.redraw()

    def tick(self) -> None:
        """Draw what the clock alone has changed."""

    def on_screen_suspend(self) -> None:
        """Time stops while nobody sees it; of a screen beneath a list the sign for that is seen."""
        if not self.look.playback.playing:
            return
        self.look = replace(self.look, playback=paused(self.look.playback))
        self._run_clock(False)
        if isinstance(self.app.screen, ModalScreen):
            self.redraw()

    def on_unmount(self) -> None:
        """The clock ends with its screen."""
        self._run_clock(False)

    def passed(self, seconds: float) -> None:
        """The playhead goes on."""
        playback = advanced(self.look.playback, self.track, seconds)
        look = replace(self.look, playback=playback, pan=0)
        if not playback.playing:
            self.look_at(look)
            return
        self.look = look
        self.tick()

    def action_run(self) -> None:
        """Play or pause; where motion is to be reduced, time moves by steps alone."""
        options = cast("ScaletuiApp", self.app).options
        if not self.look.playback.playing and (options.fps <= 0 or not options.motion):
            self.post_message(Noticed(Notice(tr("reduced motion: . and , step through time"))))
            return
        self.look_at(replace(self.look, playback=toggled(self.look.playback, self.track), pan=0))

    def action_step_on(self) -> None:
        """When the next action starts or ends."""
        if self.picture is not None:
            self._go(min(run.chart.next(self._position) for run in self._unfinished()))

    def action_step_back(self) -> None:
        """When the last one did."""
        if self.picture is not None:
            self._go(max(run.chart.previous(self._position) for run in self.picture.runs))

    def action_later(self) -> None:
        """One cell on; on the plan, the field's next value."""
        if self.look.edits:
            self.action_right()
        else:
            self._scrub(1)

    def action_earlier(self) -> None:
        """One cell back; on the plan, the field's previous value."""
        if self.look.edits:
            self.action_left()
        else:
            self._scrub(-1)

    def action_to_start(self) -> None:
        """Before everything."""
        self._go(0.0)

    def action_to_end(self) -> None:
        """After everything."""
        self._go(self.track.end)

    def action_up(self) -> None:
        """The rank above, or the field above."""
        self._choose(-1)

    def action_down(self) -> None:
        """The rank below, or the field below."""
        self._choose(1)

    def action_faster(self) -> None:
        """Twice the speed."""
        self.look_at(schedule_look.paced(self.look, 1))

    def action_slower(self) -> None:
        """Half the speed."""
        self.look_at(schedule_look.paced(self.look, -1))

    def action_zoom_in(self) -> None:
        """Closer."""
        self._zoom(1)

    def action_zoom_out(self) -> None:
        """Further."""
        self._zoom(-1)

    def action_pan_on(self) -> None:
        """Half a page to the right."""
        self.look_at(schedule_look.panned(self.look, 1))

    def action_pan_back(self) -> None:
        """Half a page to the left."""
        self.look_at(schedule_look.panned(self.look, -1))

    def action_memory(self) -> None:
        """Strips on or off."""
        self.look_at(replace(self.look, strips=not self.look.strips))

    def action_critical(self) -> None:
        """The critical path on or off."""
        self.look_at(replace(self.look, critical=not self.look.critical))

    def action_seconds(self) -> None:
        """Steps or seconds."""
        if self.picture is not None and self.picture.question.is_example:
            self.post_message(Noticed(Notice(tr("an example has no seconds: set pp in the plan first"))))
            return
        unit = Unit.STEPS if self.look.unit is Unit.SECONDS else Unit.SECONDS
        self.look_at(replace(self.look, unit=unit))

    def action_messages(self) -> None:
        """How messages travel."""
        self.look_at(schedule_look.sent_otherwise(self.look))

    def action_optimizer(self) -> None:
        """The optimizer step at the end."""
        self.look_at(schedule_look.updated_otherwise(self.look))

    def action_focus_plan(self) -> None:
        """The plan, or time."""
        self.look_at(replace(self.look, edits=not self.look.edits))

    def action_leave(self) -> None:
        """The plan first, then the comparison."""
        if self.look.edits:
            self.look_at(replace(self.look, edits=False))
        elif self.look.beside:
            self.look_at(replace(self.look, beside=()))

    def action_type(self) -> None:
        """Open the field for typing; the first time, go to the plan."""
        if self.look.edits:
            super().action_type()
        else:
            self.action_focus_plan()

    @property
    def _position(self) -> float:
        return self.look.playback.position

    def _unfinished(self) -> list[Run]:
        """The runs in which something is still to come; all where nothing is."""
        assert self.picture is not None
        return [run for run in self.picture.runs if run.end > self._position + 1e-9] or [*self.picture.runs]

    def _go(self, position: float) -> None:
        self.look_at(schedule_look.moved_to(self.look, self.track, position))

    def _scrub(self, cells: int) -> None:
        sight = self.sight
        if sight is not None:
            step = sight.stretch(self.columns).per_column
            self._go(round(self._position / step + cells) * step)

    def _zoom(self, steps: int) -> None:
        sight = self.sight
        if sight is not None:
            zoom, deepest = sight.zoom(self.columns) + steps, sight.deepest(self.columns)
            self.look_at(schedule_look.zoomed(self.look, zoom, deepest))

    def _choose(self, steps: int) -> None:
        if self.look.edits:
            self.ask(lambda value: editing.moved(value, steps))
        elif self.picture is not None:
            ranks = self.picture.ranks
            self.look_at(schedule_look.ranked(self.look, self.look.rank + steps, ranks))
