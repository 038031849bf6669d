"""LineCanvas: shows rows of spans, and rewrites only what changed."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from scaletui.theming import ROLE_STYLES
from scaletui.view.cells import is_one_cell_each
from scaletui.view.row import Row, row_width
from scaletui_themes import load_palette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual.events import Resize
    from textual.geometry import Size

COMPONENTS: Final = {role: f"canvas--{role.replace('_', '-')}" for role in ROLE_STYLES}
"""Role -> its component class."""


def component_css() -> str:
    """Rules for every role: colours from the theme, and the mono attributes where there are no colours."""
    mono = load_palette("mono").looks
    rules = ["LineCanvas { height: 1fr; }"]
    for role, stem in ROLE_STYLES.items():
        name = COMPONENTS[role]
        colourless = " ".join(mono[role].attributes) or "none"
        rules.append(f".{name} {{ color: ${stem}; background: ${stem}-ground; text-style: ${stem}-style; }}")
        rules.append(f"LineCanvas:nocolor .{name} {{ text-style: {colourless}; }}")
    return "\n".join(rules)


class LineCanvas(Widget):
    """A widget of rows. Panes override `build`, or hand rows to `paint`.

    A row that equals the one shown costs nothing; of a row that differs only the stretches that differ are
    marked for the terminal.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS.values())
    DEFAULT_CSS = component_css()

    def __init__(
        self,
        rows: Sequence[Row] = (),
        *,
        id: str | None = None,  # noqa: A002 (the name that every widget of the library gives it)
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = tuple(rows)
        self._strips: dict[tuple[Row, int], Strip] = {}
        self._styles: dict[str, Style] = {}

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    def build(self, width: int, height: int) -> Sequence[Row]:
        """The rows for a canvas of that many cells; by default those last painted."""
        del width, height
        return self._rows

    def rebuild(self) -> None:
        """Ask `build` again, at the present size."""
        width, height = self.content_size
        if width and height:
            self.paint(self.build(width, height))

    def paint(self, rows: Sequence[Row]) -> None:
        """Show these rows."""
        shown, self._rows = self._rows, tuple(rows)
        if len(shown) != len(self._rows) and self.styles.is_auto_height:
            self.refresh(layout=True)
            return
        regions = changed_regions(shown, self._rows)
        if regions:
            self.refresh(*regions)

    def on_resize(self, event: Resize) -> None:
        """Rows are built for a width, so another width needs others."""
        del event
        self.rebuild()

    def notify_style_update(self) -> None:
        """Strips hold colours: after a change of theme they are stale."""
        self._strips.clear()
        self._styles.clear()
        super().notify_style_update()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as there are rows, for `height: auto`."""
        del container, viewport, width
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        """The strip of a row, made once and kept while anything may show it again."""
        row = self._rows[y] if y < len(self._rows) else ()
        width = self.content_size.width
        strip = self._strips.get((row, width))
        if strip is None:
            if len(self._strips) >= _KEPT_STRIPS:
                self._strips.clear()
            strip = self._strips[row, width] = self._strip(row, width)
        return strip

    def _strip(self, row: Row, width: int) -> Strip:
        segments = [Segment(span.text, self._style(span.role)) for span in row]
        return Strip(segments).adjust_cell_length(width, self._style("text"))

    def _style(self, role: str) -> Style:
        style = self._styles.get(role)
        if style is None:
            style = self._styles[role] = self.get_component_rich_style(COMPONENTS[role])
        return style


def changed_regions(shown: Sequence[Row], wanted: Sequence[Row]) -> list[Region]:
    """The stretches of cells that differ, line by line."""
    regions = []
    for y in range(max(len(shown), len(wanted))):
        old = shown[y] if y < len(shown) else ()
        new = wanted[y] if y < len(wanted) else ()
        if old != new:
            regions += [Region(start, y, end - start, 1) for start, end in changed_spans(old, new)]
    return regions


def changed_spans(old: Row, new: Row) -> list[tuple[int, int]]:
    """Half-open stretches of cells in which two rows differ, close ones joined.

    A row with characters that are not one cell wide differs as a whole: half a character cannot be written.
    """
    before, after = _cells(old), _cells(new)
    if before is None or after is None:
        return [(0, max(row_width(old), row_width(new), 1))]
    blank = (" ", "text")
    spans: list[tuple[int, int]] = []
    for x, (one, other) in enumerate(zip_longest(before, after, fillvalue=blank)):
        if one == other:
            continue
        if spans and x - spans[-1][1] < _JOINED:
            spans[-1] = (spans[-1][0], x + 1)
        else:
            spans.append((x, x + 1))
    return spans


def _cells(row: Row) -> list[tuple[str, str]] | None:
    if not all(is_one_cell_each(span.text) for span in row):
        return None
    return [(character, span.role) for span in row for character in span.text]


_JOINED: Final = 12
"""A stretch costs a cursor move and a colour, about as many bytes as this many cells and their colours."""
_KEPT_STRIPS: Final = 1024
