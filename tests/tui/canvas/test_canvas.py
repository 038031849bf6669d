"""The canvas in an app: strips, themes, NO_COLOR, resizing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.geometry import Region

from scaletui.canvas import LineCanvas, changed_lines
from scaletui.theming import ThemedApp
from scaletui.view.row import Row, Span, fit
from scaletui_themes import ROLES, load_palette, theme_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Resize

ROWS: tuple[Row, ...] = ((Span("W   ", "weights_fill"), Span("weights")), (Span("over", "over"),))


class Recorder(LineCanvas):
    """A canvas that keeps the regions it marked."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        super().__init__(rows)
        self.marked: list[Region] = []

    def refresh(self, *regions: Region, **options: bool) -> Recorder:
        self.marked += regions or [Region(-1, -1, 0, 0)]
        return super().refresh(*regions, **options)


class Ruler(LineCanvas):
    """A canvas that shows its own size."""

    def build(self, width: int, height: int) -> list[Row]:
        return [fit((Span(f"{width}x{height}"),), width)] * height


class One(ThemedApp[int]):
    """An app of one widget."""

    def __init__(self, widget: LineCanvas, theme: str = "dark") -> None:
        super().__init__(theme)
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


def colours(widget: LineCanvas, y: int) -> list[tuple[str, str]]:
    """(foreground, background) names of each segment of a line."""
    styles = [segment.style for segment in widget.render_line(y) if segment.style is not None]
    return [(style.color.name, style.bgcolor.name) for style in styles if style.color and style.bgcolor]


async def test_a_line_is_its_row_and_as_wide_as_the_canvas() -> None:
    async with One(LineCanvas(ROWS)).run_test(size=(30, 4)) as pilot:
        widget = pilot.app.query_one(LineCanvas)
        assert [widget.render_line(y).text for y in range(4)] == [
            "W   weights".ljust(30), "over".ljust(30), " " * 30, " " * 30,
        ]  # fmt: skip


async def test_a_row_that_is_too_long_is_cropped() -> None:
    async with One(LineCanvas([(Span("x" * 99),)])).run_test(size=(30, 2)) as pilot:
        assert pilot.app.query_one(LineCanvas).render_line(0).text == "x" * 30


async def test_equal_rows_mark_nothing_and_keep_their_strips() -> None:
    async with One(Recorder(ROWS)).run_test(size=(30, 4)) as pilot:
        widget = pilot.app.query_one(Recorder)
        strips, widget.marked = [widget.render_line(y) for y in range(2)], []
        widget.paint([tuple(Span(span.text, span.role) for span in row) for row in ROWS])
        assert widget.marked == []
        assert all(widget.render_line(y) is strip for y, strip in enumerate(strips))


async def test_a_row_that_comes_back_is_the_same_strip() -> None:
    async with One(LineCanvas(ROWS)).run_test(size=(30, 4)) as pilot:
        widget = pilot.app.query_one(LineCanvas)
        strip = widget.render_line(0)
        widget.paint([(Span("other"),)])
        widget.paint(ROWS)
        assert widget.render_line(0) is strip


async def test_only_lines_that_changed_are_marked() -> None:
    async with One(Recorder(ROWS)).run_test(size=(30, 4)) as pilot:
        widget = pilot.app.query_one(Recorder)
        widget.marked = []
        widget.paint([ROWS[0], (Span("ovid", "over"),)])
        assert widget.marked == [Region(0, 1, 30, 1)]


async def test_rows_are_built_for_the_size_and_again_after_a_resize() -> None:
    async with One(Ruler()).run_test(size=(30, 4)) as pilot:
        widget = pilot.app.query_one(Ruler)
        assert widget.render_line(3).text == "30x4".ljust(30)
        await pilot.resize_terminal(50, 7)
        assert widget.render_line(6).text == "50x7".ljust(50)


async def test_a_canvas_of_automatic_height_grows_with_its_rows() -> None:
    canvas = LineCanvas(ROWS)
    canvas.styles.height = "auto"
    async with One(canvas).run_test(size=(30, 9)) as pilot:
        assert canvas.size.height == 2
        canvas.paint([*ROWS, *ROWS])
        await pilot.pause()
        assert canvas.size.height == 4


@pytest.mark.parametrize("theme", theme_ids())
async def test_every_role_has_its_colours_under(theme: str) -> None:
    rows = [(Span("x", role),) for role in ROLES]
    async with One(LineCanvas(rows), theme).run_test(size=(4, len(rows))) as pilot:
        widget = pilot.app.query_one(LineCanvas)
        palette = load_palette(theme)
        for y, role in enumerate(ROLES):
            look = palette.looks[role]
            style = widget.render_line(y)._segments[0].style
            assert style is not None
            assert set(look.attributes) == {
                name for name in ("bold", "dim", "underline", "reverse", "italic") if getattr(style, name)
            }
            if not palette.ansi:
                ground = look.background or palette.base["background"]
                assert colours(widget, y)[0] == (look.foreground, ground)


@pytest.mark.parametrize("theme", [name for name in theme_ids() if load_palette(name).ansi])
async def test_no_rgb_under_a_theme_of_the_terminals_colours(theme: str) -> None:
    rows = [(Span("x", role),) for role in ROLES]
    async with One(LineCanvas(rows), theme).run_test(size=(4, len(rows))) as pilot:
        styles = [
            segment.style for strip in pilot.app.screen._compositor.render_strips() for segment in strip
        ]
        used = {colour for style in styles if style for colour in (style.color, style.bgcolor) if colour}
        assert [colour for colour in used if colour.triplet is not None] == []


async def test_a_switch_of_theme_changes_cells_that_are_shown() -> None:
    async with One(LineCanvas(ROWS)).run_test(size=(30, 4)) as pilot:
        widget = pilot.app.query_one(LineCanvas)
        assert colours(widget, 0)[0][1] == load_palette("dark").looks["weights"].foreground
        pilot.app.theme = "light"
        await pilot.pause()
        assert colours(widget, 0)[0][1] == load_palette("light").looks["weights"].foreground


@pytest.mark.parametrize("theme", theme_ids())
async def test_no_color_leaves_default_colours_and_the_attributes_of_mono(
    theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    rows = [(Span("x", role),) for role in ROLES]
    async with One(LineCanvas(rows), theme).run_test(size=(4, len(rows))) as pilot:
        assert not pilot.app.has_hues
        strips = pilot.app.screen._compositor.render_strips()
        for role, strip in zip(ROLES, strips, strict=True):
            style = strip._segments[0].style
            assert style is not None
            assert {colour.name for colour in (style.color, style.bgcolor) if colour} <= {"default"}
            assert bool(style.reverse) == ("reverse" in load_palette("mono").looks[role].attributes)


@pytest.mark.parametrize(
    ("shown", "wanted", "lines"),
    [
        (ROWS, ROWS, []),
        (ROWS, [ROWS[0], ROWS[0]], [1]),
        (ROWS, ROWS[:1], [1]),
        (ROWS[:1], ROWS, [1]),
        ((), ROWS, [0, 1]),
        (ROWS, [ROWS[0], ROWS[1], ()], []),
    ],
    ids=["equal", "changed", "gone", "come", "first", "empty"],
)
def test_lines_that_changed(shown: Sequence[Row], wanted: Sequence[Row], lines: list[int]) -> None:
    assert changed_lines(shown, wanted) == lines


def test_roles_are_not_component_classes() -> None:
    """Each would be styled for each widget, which is what a change of screen waits for."""
    assert set() == LineCanvas.COMPONENT_CLASSES


class Deaf(Ruler):
    """A canvas that the news of another size has not reached yet."""

    def on_resize(self, event: Resize) -> None:
        event.prevent_default()


async def test_lines_that_are_asked_for_before_the_news_of_another_size_are_not_blank() -> None:
    async with One(Deaf()).run_test(size=(30, 4)) as pilot:
        widget = pilot.app.query_one(Deaf)
        widget.rebuild()
        for width, height in ((30, 9), (20, 2), (50, 12)):
            await pilot.resize_terminal(width, height)
            lines = {widget.render_line(y).text.rstrip() for y in range(height)}
            assert lines == {f"{width}x{height}"}
