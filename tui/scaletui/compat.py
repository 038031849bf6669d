"""Work-arounds for defects of libraries: each with the report it answers and what makes it unnecessary."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeGuard

from rich.control import Control
from textual.app import App, ReturnType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console, RenderableType
    from textual.screen import Screen
    from textual.strip import Strip


class PartialUpdate(Protocol):
    """What is used of the library's private update of some stretches of some lines (`ChopsUpdate`)."""

    chops: Sequence[Mapping[int, Strip | None]]
    """For each line of the screen: left edge -> the strip that starts there."""
    chop_ends: Sequence[Sequence[int]]
    """For each line: right edges of those strips."""
    spans: Sequence[tuple[int, int, int]]
    """(line, first cell, one past the last cell) of each stretch that changed."""


def is_partial_update(renderable: object) -> TypeGuard[PartialUpdate]:
    """Whether it has the parts that `left_cropped` needs; another version of the library may not."""
    return all(hasattr(renderable, name) for name in _PARTS)


def left_cropped(update: PartialUpdate, console: Console) -> str:
    """The update for the terminal: for each stretch a cursor move and exactly its cells."""
    written: list[str] = []
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            start, stop = max(x, x1), min(end, x2)
            if strip is not None and start < stop:
                written.append(Control.move_to(start, y).segment.text)
                written.append(strip.crop(start - x, stop - x).render(console))
    return "".join(written)


class FrugalApp(App[ReturnType]):
    """An app that writes only the cells that were asked for.

    Textual cuts a changed stretch at its right, but writes each line from the left edge of the widget on, so
    that a mark at the right of a wide pane costs the row (Textualize/textual#5625, closed unchanged, so in
    8.2.8). Superfluous once `ChopsUpdate.render_segments` crops both sides.
    """

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if is_partial_update(renderable):
            setattr(renderable, "render_segments", partial(left_cropped, renderable))  # noqa: B010 (not declared there)
        super()._display(screen, renderable)


_PARTS: Final = ("chops", "chop_ends", "spans", "render_segments")
