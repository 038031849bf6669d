"""The strip of a player: its phases in a row, the playhead above them, and how fast time runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.cells import centre, width_of
from scaletui.view.row import Row, Span, fit
from scaletui.view.schedule_times import plain
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaletui.state.playback import Playback
    from scaletui.view.pen import Pen


def clock_text(playback: Playback, pen: Pen) -> str:
    """Whether time runs, and how fast."""
    sign = pen.glyphs.play if playback.playing else pen.glyphs.pause
    return f"{sign} {pen.glyphs.times}{plain(playback.speed, pen, 3)}"


def short_size(value: int, pen: Pen) -> str:
    """Bytes without a decimal that says nothing: "832 MiB", "1.4 GiB"."""
    return pen.numbers.size(value).replace(f"{pen.numbers.decimal}0 ", " ")


def pair_text(part: int, whole: int, pen: Pen) -> str:
    """ "416 of 728 MiB"; each with its unit where they differ."""
    first, second = short_size(part, pen), short_size(whole, pen)
    number, _, unit = first.partition(" ")
    same = second.endswith(f" {unit}")
    return tr("{part} of {whole}", part=number if same else first, whole=second)


def column_of(position: float, last: int, columns: int) -> int:
    """The cell that a frame lies in."""
    return min(int(position / max(last, 1) * max(columns - 1, 0) + 1e-9), max(columns - 1, 0))


def frame_at(column: int, last: int, columns: int) -> int:
    """The frame whose cell that is, for the mouse."""
    return min(max(round(column / max(columns - 1, 1) * last), 0), last)


def playhead_row(column: int, text: str, width: int, pen: Pen) -> Row:
    """The marker at its column with words beside it, at the side where they fit."""
    if column + 2 + width_of(text) <= width:
        return fit((Span(" " * column), Span(f"{pen.glyphs.playhead} {text}", "playhead")), width)
    start = max(column - width_of(text) - 1, 0)
    return fit((Span(" " * start), Span(f"{text} {pen.glyphs.playhead}", "playhead")), width)


def phases_row(phases: Sequence[tuple[str, int]], last: int, width: int) -> Row:
    """(name, frames) of every phase on alternating grounds, each as long as its share of the frames."""
    spans: list[Span] = []
    frame = start = 0
    for place, (name, frames) in enumerate(phases):
        frame += frames
        end = width if frame >= last else round(frame / max(last, 1) * width)
        names = (name, name.partition(":")[0], "")
        fits = next(each for each in names if width_of(each) <= end - start)
        text = centre(fits, end - start)
        spans.append(Span(text, fill("tile_odd" if place % 2 else "tile")))
        start = end
    return fit(tuple(spans), width)
