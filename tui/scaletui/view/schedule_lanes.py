"""Ranks against time: single actions where they have room, else how busy each stretch of time is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.view.cells import left, width_of
from scaletui.view.row import Row, Span, fit, merge
from scaletui.view.schedule_memory import figure, strip_rows
from scaletui.view.schedule_times import length_text, plain
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.schedule import Run
    from scaletui.state.schedule_chart import Piece, Shade
    from scaletui.state.schedule_sight import Sight
    from scaletui.view.pen import Pen
    from scaletui.view.schedule_layout import Layout


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Which actions stand out."""

    cursor: frozenset[int] = frozenset()
    lit: frozenset[int] = frozenset()
    critical: frozenset[int] | None = None
    """All others fade; None where nothing does."""
    letters: bool = False
    """Whether actions have room for their letter."""
    slices: int = 1


def label_width(sight: Sight, layout: Layout, pen: Pen) -> int:
    """Cells in front of every lane: pointer, name, one blank."""
    names = [*map(_name, layout.groups), *(figure(sight, rank, pen) for rank in layout.strips)]
    return max(5, 2 + max(map(width_of, names)))


def lane_rows(sight: Sight, layout: Layout, width: int, pen: Pen) -> tuple[Row, ...]:
    """Every run's lanes, each with its strip beneath."""
    rows: list[Row] = []
    label = label_width(sight, layout, pen)
    for run in sight.picture.runs:
        if sight.is_comparison:
            rows.append(_run_title(run, sight, width, pen))
        rows += _run(run, sight, layout, (label, width, pen))
    return tuple(rows)


def _run(run: Run, sight: Sight, layout: Layout, room: tuple[int, int, Pen]) -> Iterator[Row]:
    label, width, pen = room
    lanes = _lanes(run, sight, layout, (width - label, pen))
    for group, cells in zip(layout.groups, lanes, strict=True):
        mark = pen.glyphs.pointer if sight.look.rank in group and run is sight.own else " "
        role = "accent" if mark != " " else "dim"
        yield fit((Span(left(f"{mark}{_name(group)}", label), role), *cells), width)
        under = tuple(Span(" " * width_of(span.text), span.role) for span in cells)
        for _ in range(layout.tall - 1):
            yield fit((Span(" " * label), *under), width)
        for rank in group:
            if rank in layout.strips and run is sight.own:
                yield from strip_rows(sight, rank, layout.strip, (label, width, pen))


def _name(group: range) -> str:
    return f"r{group.start}" if len(group) == 1 else f"r{group.start}-{group.stop - 1}"


def _run_title(run: Run, sight: Sight, width: int, pen: Pen) -> Row:
    facts = (
        length_text(run.makespan, sight.picture.question.unit, pen),
        tr("bubble B {percent}", percent=pen.numbers.percent(run.bubble.over_makespan, 1)),
        tr("peak {count} on r{rank}", count=plain(run.peaks[run.worst_rank], pen), rank=run.worst_rank),
    )
    name = f" {run.name}" + (f" v {run.chunks}" if run.chunks > 1 else "")
    return fit((Span(left(name, max(26, width_of(name) + 3)), "title"), Span("   ".join(facts))), width)


def _lanes(run: Run, sight: Sight, layout: Layout, room: tuple[int, Pen]) -> list[Row]:
    columns, pen = room
    stretch = sight.stretch(columns)
    if sight.is_dense(run, columns) or any(len(group) > 1 for group in layout.groups):
        shades = run.chart.shades(stretch, layout.groups)
        fades = sight.look.critical
        return [merge(_shade(shade, pen, fades=fades) for shade in row) for row in shades]
    ranks = range(layout.groups[0].start, layout.groups[-1].stop)
    emphasis = emphasis_of(run, sight, columns, pen)
    return [merge(_piece(piece, emphasis, pen) for piece in row) for row in run.chart.pieces(stretch, ranks)]


def emphasis_of(run: Run, sight: Sight, columns: int, pen: Pen) -> Emphasis:
    """While time runs nothing is lit: a tick of the clock leaves the lanes alone."""
    schedule = run.chart.timeline.schedule
    longest = 1 + len(str(schedule.shape.microbatches - 1)) + (schedule.slices > 1)
    cells = run.chart.shortest / sight.stretch(columns).per_column
    letters = cells >= longest + (not pen.glyphs.spells_actions) - 0.1
    critical = run.chart.critical if sight.look.critical else None
    if run is not sight.own or sight.look.playback.playing:
        return Emphasis(critical=critical, letters=letters, slices=schedule.slices)
    near = sight.near()
    cursor = frozenset(named.index for named in near.actions)
    return Emphasis(cursor, near.lit, critical, letters, schedule.slices)


def _piece(piece: Piece, emphasis: Emphasis, pen: Pen) -> Span:
    if piece.role == "idle":
        return Span(pen.glyphs.shades.get("idle", " ") * piece.columns, "idle")
    if piece.role == "optimizer":
        return Span(left(pen.glyphs.letter(piece.role), piece.columns), fill(piece.role))
    letter = pen.glyphs.letter(piece.role) if emphasis.letters else ""
    part = chr(ord("a") + piece.slice) if emphasis.slices > 1 else ""
    return Span(_text(letter, piece.microbatch, part, piece.columns), _role(piece, emphasis, pen))


@lru_cache(8192)
def _text(letter: str, microbatch: int, part: str, columns: int) -> str:
    """Letter and number, else the number, else its last digit, on so many cells."""
    number = str(microbatch)
    texts = (letter + number + part, number + part, number)
    return left(next((text for text in texts if len(text) <= columns), number[-1]), columns)


def _role(piece: Piece, emphasis: Emphasis, pen: Pen) -> str:
    if piece.index in emphasis.cursor:
        return "cursor"
    if piece.index in emphasis.lit:
        return "selection"
    role = piece.role + ("_odd" if piece.chunk % 2 else "")
    if emphasis.critical is not None and piece.index not in emphasis.critical:
        return "dim" if pen.glyphs.spells_actions else role
    return fill(role)


def _shade(shade: Shade, pen: Pen, *, fades: bool) -> Span:
    if not shade.busy:
        return Span(pen.glyphs.shades.get("idle", " ") * shade.columns, "idle")
    letter, levels = pen.glyphs.letter(shade.role), pen.glyphs.levels
    second = pen.glyphs.letter(shade.second)
    faded = fades and not shade.critical
    if pen.glyphs.spells_actions:
        text = (letter + (letter if second == " " else second)) * shade.columns
        text = text if shade.busy > 1 else text.lower()
        return Span(text[: shade.columns], "dim" if faded else fill(shade.role))
    if shade.busy > 1 and not faded:
        return Span(second.lower() * shade.columns, fill(shade.role))
    level = levels[len(levels) // 2] if shade.busy > 1 or not faded else levels[2]
    return Span(level * shade.columns, shade.role)
