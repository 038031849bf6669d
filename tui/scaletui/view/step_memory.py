"""The memory of one rank over a step, and the same moment under every strategy."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from scaletui.text.explain import explain
from scaletui.text.language import N_, tr
from scaletui.view.bars import Bar, bar_rows
from scaletui.view.big import BIG_HEIGHT
from scaletui.view.box import Box
from scaletui.view.cells import left, right, width_of
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row
from scaletui.view.step_clock import column_of, phases_row
from scaletui.view.step_lanes import LABEL
from scaletui.view.step_stack import stacked_rows
from scaletui.view.step_words import frame_name
from scaletui_engine.sharding.step_frames import HELD, Act
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.step_play import Sight, Take
    from scaletui.view.pen import Pen
    from scaletui_engine.sharding.step_frames import PlayedStep

_FIGURE: Final = 8


def chart_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The rule with the peak, the curve, the phases; the playhead's row comes beneath."""
    step, room = sight.step, box.width - LABEL
    peak = step.frames[step.peak]
    said = N_("peak {size}, {where}") if peak.act is Act.START else N_("peak {size} at {where}")
    text = tr(said, size=pen.numbers.bytes(peak.total), where=frame_name(step, peak))
    head = rule_row(tr("held, no activations"), box.width, pen, [(box.width, text)])
    columns = curve_of(step, room)
    curve = stacked_rows(columns, Box(room, box.height), pen)
    names = [pen.numbers.bytes(peak.total), *([""] * (box.height - 2)), "0"][: box.height]
    rows = [
        fit((Span(right(name, LABEL - 1) + " ", "dim"), *row), box.width)
        for name, row in zip(names, curve, strict=True)
    ]
    return (head, *rows, fit((Span(" " * LABEL), *phases_row(_phases(step), step.last, room)), box.width))


@lru_cache(maxsize=16)
def curve_of(step: PlayedStep, columns: int) -> tuple[tuple[int, ...], ...]:
    """For every cell the parts of the frame that holds most of those in it; few frames are drawn wide."""
    count = len(step.frames)
    found: list[tuple[int, ...]] = []
    for column in range(columns):
        first = column * count // columns
        stretch = step.frames[first : max((column + 1) * count // columns, first + 1)]
        found.append(max(stretch, key=lambda frame: frame.total).parts)
    return tuple(found)


def playhead(sight: Sight, width: int, pen: Pen) -> Row:
    """The mark under the curve, with what is held and sent at its side."""
    column = LABEL + column_of(sight.playback.position, sight.step.last, width - LABEL)
    text = tr(
        "{held} held, {sent} sent",
        held=pen.numbers.bytes(sight.frame.total), sent=pen.numbers.bytes(sight.frame.sent),
    )  # fmt: skip
    if column + 2 + width_of(text) <= width:
        return fit((Span(" " * column), Span(f"{pen.glyphs.up} {text}", "playhead")), width)
    return fit(
        (Span(" " * (column - width_of(text) - 1)), Span(f"{text} {pen.glyphs.up}", "playhead")), width
    )


def _phases(step: PlayedStep) -> list[tuple[str, int]]:
    """Forward, backward and the rest, each with its frames."""
    found: list[tuple[str, int]] = []
    for frame in step.frames:
        name = _PASSES.get(frame.act) or (found[-1][0] if found else "forward")
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1] + 1)
        else:
            found.append((name, 1))
    return [(tr(name), count) for name, count in found]


_PASSES: Final = {
    Act.FORWARD: "forward", Act.BACKWARD: "backward", Act.STEP: "step", Act.SKIP: "forward",
}  # fmt: skip


def beside_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """One bar a strategy at this moment, on the GPU's scale; the own one where there is room for no more."""
    width, bar = box.width, BIG_HEIGHT if pen.big else 1
    heads = [(width - 9, tr("held")), (width, tr("sent"))]
    unit = pen.numbers.unit
    title = tr("this moment with every strategy, {unit}", unit=unit)
    room = max((box.height - 1) // bar, 1)
    takes = sight.takes.takes
    first = min(max(takes.index(sight.take) - room + 1, 0), max(len(takes) - room, 0))
    bars = [_bar(sight, take, pen) for take in takes[first : first + room]]
    rows = bar_rows(bars, sight.takes.scenario.cluster.gpu.capacity_bytes, width, pen)
    head = (rule_row(title, width, pen, heads),) if box.height > bar else ()
    return (*head, *rows)[: box.height]


def _bar(sight: Sight, take: Take, pen: Pen) -> Bar:
    frame, chosen = sight.beside(take), take is sight.take
    mark = pen.glyphs.pointer if chosen else " "
    label = left(f" {mark}{take.strategy.value}", LABEL - 1)
    if frame is None:
        return Bar(label, (), tr("not with this plan"), "dim", "dim")
    figures = (pen.numbers.gib(frame.total), pen.numbers.gib(frame.sent))
    note = right(figures[0], _FIGURE) + right(figures[1], _FIGURE + 1)
    parts = tuple(zip(HELD, frame.parts, strict=True))
    return Bar(label, parts, note, "accent" if chosen else "text", "accent" if chosen else "text")


def legend_row(sight: Sight, width: int, pen: Pen) -> Row:
    """The parts' letters; activations are not among them."""
    return fit(tuple(_legend(sight, pen)), width)


def _legend(sight: Sight, pen: Pen) -> Iterator[Span]:
    frames = [frame for frame in map(sight.beside, sight.takes.takes) if frame is not None]
    for part in HELD:
        if any(frame.part(part) for frame in frames):
            yield Span(" ")
            yield Span(pen.glyphs.segment(part, 1), fill(part))
            yield Span(f" {explain(part)} ", "dim")
