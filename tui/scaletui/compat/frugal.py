"""An app that writes only the cells that changed."""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rich.console import COLOR_SYSTEMS
from textual.app import App, ReturnType

from scaletui.compat.shadow import Frame, Shadow, cells_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console, RenderableType
    from textual.screen import Screen
    from textual.strip import Strip

BRIEF_S: Final = 0.01


class FrugalApp(App[ReturnType]):
    """An app that compares each frame with what the terminal shows.

    Textual writes all that was marked, whether it differs or not, and every line from the left edge of its
    widget on: one cell at the right of a wide pane costs the row, another screen costs all cells
    (Textualize/textual#5625, closed unchanged; #4086 and #4353, open; so in 8.2.8). Superfluous once its
    compositor compares cells. Anything but its two updates of a screen goes the usual way.
    """

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self._shadow = Shadow()

    def on_mount(self) -> None:
        """Textual itself does not paint again after SIGCONT."""
        self.app_resume_signal.subscribe(self, lambda _: self.repaint())

    def on_ready(self) -> None:
        """What the library and the screens have made by now stays: the collector need not look through it
        again and again, which takes longer than to draw a frame."""
        gc.freeze()

    def on_resize(self) -> None:
        """A terminal that was resized may show anything, also when it is back at its old size."""
        self.repaint()

    def delay_update(self, delay: float = BRIEF_S) -> None:
        """Hold frames back while one screen gives way to another.

        Textual holds them back for 50 ms (`App.delay_update`, 8.2.8), the whole time in which a key is to be
        answered; here it is long enough for the new screen to be shown its session.
        """
        super().delay_update(delay)

    def repaint(self) -> None:
        """Write every cell again: something else may have written to the terminal."""
        self._shadow.forget()
        self.refresh()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        stretches = None if self.is_inline else stretches_of(renderable)
        if stretches is not None and self.console.color_system is not None:
            setattr(renderable, _RENDER, partial(self._difference, stretches))
        elif renderable is not None:
            self._shadow.forget()
        super()._display(screen, renderable)

    def _difference(self, stretches: Callable[[], Iterator[Stretch]], console: Console) -> str:
        """What the library calls for the bytes of an update."""
        system = COLOR_SYSTEMS[console.color_system or "truecolor"]
        width, height = self.size
        frame = Frame(self._shadow, system, room_for(width, height))
        for x, y, strip in stretches():
            if y < height:
                frame.draw(x, y, cells_of(strip)[: max(0, width - x)])
        if frame.cut:
            self.call_later(self.refresh)
        return frame.text()


def room_for(width: int, height: int) -> int:
    """Bytes after which a frame begins no further stretch.

    With its last one it stays within what may be written at once: 4 KB at 80x24, 8 KB at 200x50.
    """
    return min(max(width * height * 3 // 5, 3000), 6000)


def stretches_of(update: Any) -> Callable[[], Iterator[Stretch]] | None:
    """The stretches of cells in an update; None for what has not the parts that are used here."""
    if all(hasattr(update, name) for name in ("chops", "chop_ends", "spans", _RENDER)):
        return partial(_partial_stretches, update)
    if all(hasattr(update, name) for name in ("strips", "region", _RENDER)):
        return partial(_full_stretches, update)
    return None


def _partial_stretches(update: Any) -> Iterator[Stretch]:
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            start, stop = max(x, x1), min(end, x2)
            if strip is not None and start < stop:
                yield start, y, strip.crop(start - x, stop - x)


def _full_stretches(update: Any) -> Iterator[Stretch]:
    for y, line in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in line:
            yield x, y, strip
            x += strip.cell_length


Stretch = tuple[int, int, "Strip"]
"""Left edge, line, and what is shown from there on."""
_RENDER: Final = "render_segments"
