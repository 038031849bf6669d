"""A picture as its reader looks at it: what views draw from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state.playback import Track
from scaletui.state.schedule import Unit
from scaletui.state.schedule_stretch import Scene, Stretch, deepest_zoom, readable_zoom, stretch_of

if TYPE_CHECKING:
    from scaletui.state.answer import Answer
    from scaletui.state.schedule import Run, SchedulePicture
    from scaletui.state.schedule_look import Look
    from scaletui.state.schedule_near import Near

DENSE: Final = 0.9
"""Columns of a short action, below which single actions are no longer drawn."""
MOST_READ: Final = 16
"""Ranks that are opened action by action; more of them are first shown whole."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One value for all panes."""

    picture: SchedulePicture
    look: Look
    caps: tuple[float, ...] = ()
    """[ranks] microbatches of activations that fit; empty where nobody knows."""

    @property
    def own(self) -> Run:
        """The plan's schedule."""
        return self.picture.runs[0]

    @property
    def track(self) -> Track:
        """What is played."""
        return track_of(self.picture)

    @property
    def is_comparison(self) -> bool:
        """Whether several schedules share the time axis."""
        return len(self.picture.runs) > 1

    def scene(self, columns: int) -> Scene:
        """What there is to show on that many columns; on one where labels leave none, as a window shrinks."""
        regular = self.picture.question.unit is Unit.STEPS
        return Scene(self.picture.makespan, self.picture.unit, max(columns, 1), regular)

    def stretch(self, columns: int) -> Stretch:
        """What is shown on that many columns."""
        look = self.look
        return stretch_of(self.scene(columns), self.zoom(columns), look.playback.position, look.pan)

    def zoom(self, columns: int) -> int:
        """The one that was chosen; else the first that shows single actions of a few ranks."""
        if self.look.zoom is not None:
            return self.look.zoom
        if self.is_comparison or self.picture.ranks > MOST_READ:
            return 0
        return readable_zoom(self.scene(columns), self.own.chart.shortest, DENSE)

    def deepest(self, columns: int) -> int:
        """The last zoom that shows more."""
        return deepest_zoom(self.scene(columns))

    def is_dense(self, run: Run, columns: int) -> bool:
        """Whether single actions are too short to be drawn."""
        return run.chart.shortest / self.stretch(columns).per_column < DENSE

    def near(self) -> Near:
        """What stands under the cursor."""
        return self.own.chart.near(self.look.rank, self.look.playback.position)


def track_of(picture: SchedulePicture) -> Track:
    """The longest run of a picture, at its typical forward pass a second."""
    return Track(picture.makespan, picture.unit)


def caps_of(picture: SchedulePicture, answer: Answer | None) -> tuple[float, ...]:
    """Microbatches for which each rank has room: those at the budget's peak, and what is free then."""
    run = picture.runs[0]
    if answer is None or answer.scenario is not picture.question.scenario or not run.held_bytes:
        return ()
    budget, caps = answer.budget, []
    for stage in budget.stages[: picture.ranks]:
        room = stage.parts.activations + budget.capacity_bytes - stage.needed_bytes
        each = run.microbatch_bytes(stage.stage)
        caps.append(max(room / each, 0.0) if each else 0.0)
    return tuple(caps) if len(caps) == picture.ranks else ()
