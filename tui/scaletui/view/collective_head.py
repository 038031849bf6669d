"""Above and below the picture of a collective: the track of its steps, and what the cells mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.collective_grid import window_text
from scaletui.view.collective_words import NAMES
from scaletui.view.row import Row, Span, beside, fit
from scaletui.view.step_clock import column_of, phases_row, playhead_row
from scaletui_engine.collectives.family import phases
from scaletui_themes.roles import fill

if TYPE_CHECKING:
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
    """The marks of the cells, and what is not on the screen."""
    count = tr("ranks summed") if sight.sums else tr("from rank")
    spans = [
        Span(" "), Span(f" {pen.glyphs.pointer} ", "cursor"), Span(f" {tr('arrives')}  "),
        Span(f" {pen.glyphs.more} ", "selection"), Span(f" {tr('leaves')}  "),
        Span(f" {pen.glyphs.ok} ", fill("activations")), Span(f" {tr('done')}  "),
        Span(f"3{pen.glyphs.levels[3] * 2}", "tile"), Span(f" {count}  "),
    ]  # fmt: skip
    if sight.sums:
        spans += [Span("3", "dim"), Span(f" {tr('passed on')}  ")]
    if sight.played.nodes > 1:
        spans += [Span(pen.glyphs.bad, "warn"), Span(f" {tr('leaves the node')}")]
    shown = window_text(sight, layout)
    return (
        beside(tuple(spans), (Span(shown, "accent"), Span(" ")), width) if shown else fit(tuple(spans), width)
    )
