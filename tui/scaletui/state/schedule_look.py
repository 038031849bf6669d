"""What a reader of the schedule has before them: clock, rank, zoom, and what is switched on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from scaletui.state.playback import Playback, Track, hastened, placed
from scaletui.state.schedule import MOST_RUNS, Messages, Unit, Update


@dataclass(frozen=True, slots=True)
class Look:
    """Replaced with every key."""

    playback: Playback = field(default_factory=Playback)
    rank: int = 0
    zoom: int | None = None
    """Doublings of the scale; 0 shows the whole schedule, None is as close as it takes to read it."""
    pan: int = 0
    """Half pages between what is shown and where the playhead is."""
    unit: Unit = Unit.STEPS
    beside: tuple[str, ...] = ()
    strips: bool = True
    """Whether the memory of the ranks is shown."""
    critical: bool = False
    """Whether the critical path stands out."""
    messages: Messages = Messages.ASYNC
    update: Update = Update.NONE
    """Whether and when the optimizer step is shown."""
    edits: bool = False
    """Whether arrow keys walk the plan's fields instead of the timeline."""


def moved_to(look: Look, track: Track, position: float) -> Look:
    """The playhead somewhere else, and in view again."""
    return replace(look, playback=placed(look.playback, track, position), pan=0)


def ranked(look: Look, rank: int, ranks: int) -> Look:
    """Another rank; the list ends at its ends."""
    return replace(look, rank=min(max(rank, 0), ranks - 1))


def zoomed(look: Look, zoom: int, deepest: int) -> Look:
    """Closer or further, within what there is; the playhead stays in view."""
    return replace(look, zoom=min(max(zoom, 0), deepest), pan=0)


def panned(look: Look, steps: int) -> Look:
    """Half pages to the right, or left below 0; the playhead stays where it is."""
    return replace(look, pan=look.pan + steps)


def paced(look: Look, steps: int) -> Look:
    """Faster or slower."""
    return replace(look, playback=hastened(look.playback, steps))


def laid_beside(look: Look, name: str, own: str) -> Look:
    """A schedule on the time axis, or off it when it is there; the oldest gives way to a fourth."""
    if name == own:
        return look
    others = tuple(other for other in look.beside if other != name)
    if name not in look.beside:
        others = (*others, name)[-(MOST_RUNS - 1) :]
    return replace(look, beside=others)


def sent_otherwise(look: Look) -> Look:
    """Messages travel in the next way."""
    return replace(look, messages=_after(look.messages))


def updated_otherwise(look: Look) -> Look:
    """The optimizer step after all, rank by rank, or not shown."""
    return replace(look, update=_after(look.update))


_Choice = TypeVar("_Choice", Messages, Update)


def _after(choice: _Choice) -> _Choice:
    every = list(type(choice))
    return every[(every.index(choice) + 1) % len(every)]
