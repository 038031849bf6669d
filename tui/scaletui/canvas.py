"""LineCanvas: shows rows of spans, and marks only lines that changed."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from scaletui.theming import ROLE_STYLES
from scaletui_themes import load_palette

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.events import Resize
    from textual.geometry import Size

    from scaletui.view.row import Row


class LineCanvas(Widget):
    """A widget of rows. Panes override `build`, or hand rows to `paint`.

    A row that equals the one shown costs nothing; a row that differs is marked, and the app writes of it what
    differs. Roles take their colours from the theme's variables, not from component classes: those are styled
    one by one for every widget, and sixty of them make each change of screen take seconds.
    """

    DEFAULT_CSS = "LineCanvas { height: 1fr; }"

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
        self._built_for: Size | None = None
        """The cells that the rows were last built for."""

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
            self._built_for = self.content_size
            self.paint(self.build(width, height))

    def paint(self, rows: Sequence[Row]) -> None:
        """Show these rows."""
        shown, self._rows = self._rows, tuple(rows)
        if len(shown) != len(self._rows) and self.styles.is_auto_height:
            self.refresh(layout=True)
            return
        width = self.content_size.width
        regions = [Region(0, y, width, 1) for y in changed_lines(shown, self._rows)]
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
        return self._line(y, self._width_now())

    def render_lines(self, crop: Region) -> list[Strip]:
        """Rows bring all their cells and colours: where nothing is drawn around them, no line is styled anew.

        The library styles every line of every widget of a frame (`StylesCache.render_widget`, 8.2.8), which
        costs as much as to work out what the lines say.
        """
        if any(self.styles.gutter):
            return super().render_lines(crop)
        width = self._width_now()
        strips = [self._line(y, width) for y in crop.line_range]
        start, end = crop.column_span
        return strips if (start, end) == (0, width) else [strip.crop(start, end) for strip in strips]

    def _width_now(self) -> int:
        """Cells of a line, after the rows have been built for them."""
        size = self.content_size
        if self._built_for not in (None, size):
            self._build_late(size)
        return size.width

    def _build_late(self, size: Size) -> None:
        """Lines are asked for before the news of another size has come: rows for the old one would leave
        some blank."""
        self._built_for = size
        if not self.styles.is_auto_height:
            self._rows = tuple(self.build(*size))

    def _line(self, y: int, width: int) -> Strip:
        row = self._rows[y] if y < len(self._rows) else ()
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
            found = role_style(role, self.app.theme_variables, no_color=self.app.no_color)
            style = self._styles[role] = self._filtered(found)
        return style

    def _filtered(self, style: Style) -> Style:
        """As the app's filters leave it: where there are no colours they take them off."""
        strip = Strip([Segment(" ", style)])
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return next(iter(strip)).style or style


def role_style(role: str, variables: Mapping[str, str], *, no_color: bool) -> Style:
    """The look of a role under a theme; where there are no colours, with the attributes of mono."""
    stem = ROLE_STYLES[role]
    mono = " ".join(load_palette("mono").looks[role].attributes) or "none"
    return Style.parse(mono if no_color else variables[f"{stem}-style"]) + Style(
        color=Color.parse(variables[stem]).rich_color,
        bgcolor=Color.parse(variables[f"{stem}-ground"]).rich_color,
    )


def changed_lines(shown: Sequence[Row], wanted: Sequence[Row]) -> list[int]:
    """Numbers of the lines that differ; those that come and go included."""
    pairs = zip_longest(shown, wanted, fillvalue=())
    return [y for y, (old, new) in enumerate(pairs) if old is not new and old != new]


_KEPT_STRIPS: Final = 1024
