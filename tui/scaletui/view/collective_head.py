"""Above and below the picture of a collective: the track of its steps, and what the cells mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.cells import width_of
from scaletui.view.collective_grid import leaving, window_text
from scaletui.view.collective_words import NAMES
from scaletui.view.row import Row, Span, beside, row_width
from scaletui.view.step_clock import column_of, phases_row, playhead_row
from scaletui_engine.collectives.family import phases
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.collective_sight import Sight
    from scaletui.view.collective_layout import Layout
    from scaletui.view.pen import Pen


def strip_rows(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """The playhead, and the phases of which each is as long as its steps."""
    column = column_of(sight.playback.position, sight.player.last, width)
    text = tr("step {step}", step=sight.frame.index)
    named = [(tr(NAMES[name]), steps) for name, steps in phases(sight.played) if steps]
    return (playhead_row(column, text, width, pen), phases_row(named, sight.player.last, width))


def legend_row(sight: Sight, layout: Layout, width: int, pen: Pen) -> Row:
    """The marks of the cells, and what is not on the screen; marks that do not fit are left out."""
    shown = window_text(sight, layout)
    room = width - (width_of(shown) + 2 if shown else 0)
    spans: list[Span] = []
    for mark, text in _legend(sight, pen):
        entry = (Span(" "), mark, Span(f" {text} "))
        if row_width((*spans, *entry)) <= room:
            spans += entry
    return beside(tuple(spans), (Span(shown, "accent"), Span(" " * bool(shown))), width)


def _counted(sight: Sight) -> str:
    """What the number in a block is; numbers of ranks are too long for it."""
    if sight.sums:
        return tr("ranks summed")
    return tr("from place") if sight.number(sight.played.ranks - 1) >= sight.played.ranks else tr("from rank")


def _legend(sight: Sight, pen: Pen) -> Iterator[tuple[Span, str]]:
    yield Span(f" {pen.glyphs.pointer} ", "cursor"), tr("arrives")
    yield Span(f" {leaving(pen)} ", "selection"), tr("leaves")
    yield Span(f" {pen.glyphs.ok} ", fill("activations")), tr("done")
    yield Span(f"3{pen.glyphs.levels[3] * 2}", "tile"), _counted(sight)
    if sight.nodes > 1:
        yield (
            Span(pen.glyphs.bad, "warn"),
            tr("leaves the node") if sight.choice.in_nodes else tr("leaves the NVLink domain"),
        )
    if sight.sums:
        yield Span("3", "dim"), tr("passed on")
