"""The schedule's first line, its legend, and the words beneath and beside the lanes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui.state.schedule import KINDS
from scaletui.text.explain import explain
from scaletui.text.language import ntr, tr
from scaletui.view.bars import chip
from scaletui.view.big import BIG_HEIGHT, big_text
from scaletui.view.box import Box
from scaletui.view.cells import width_of
from scaletui.view.row import Row, Span, fit, row_width
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.schedule_bubble import bubble_panel, bubble_row
from scaletui.view.schedule_cursor import cursor_lines
from scaletui.view.schedule_head import axis_row
from scaletui.view.schedule_layout import PANEL
from scaletui.view.schedule_names import runtime_note
from scaletui.view.schedule_table import schedule_table
from scaletui.view.schedule_times import length_text, plain, time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaletui.state.schedule_sight import Sight
    from scaletui.state.schedule_table import Table
    from scaletui.view.pen import Pen


LEAST_TABLE: Final = 6
"""Rows from which on a table of all schedules says something."""
CURSOR: Final = 3
"""Rows for what stands under the cursor."""


def answer_rows(sight: Sight, width: int, pen: Pen) -> tuple[Row, ...]:
    """Makespan, bubble B and the rank that holds most; figures three lines tall for the back row."""
    run, question = sight.own, sight.picture.question
    percent = pen.numbers.percent(run.bubble.over_makespan, 1)
    count = plain(run.peaks[run.worst_rank], pen)
    peak = ntr(
        "peak {count} microbatch (rank {rank})",
        "peak {count} microbatches (rank {rank})",
        1 if run.peaks[run.worst_rank] == 1 else 2,
        count=count,
        rank=run.worst_rank,
    )
    if pen.big:
        return _big(sight, peak, width, pen)
    chunks = f"  v {run.chunks}" if run.chunks > 1 else ""
    shape = f"p {sight.picture.ranks}  m {question.shape[1]}{chunks}"
    example = f" {tr('example:')}" if question.is_example else ""
    line = (
        Span(f"{example} {run.name}", "title"),
        Span(f"  {shape}  ", "dim"),
        Span(length_text(run.makespan, question.unit, pen), "title"),
        Span(f"  {tr('bubble B {percent}', percent=percent)}", "title"),
    )
    short = tr("peak {count} (r{rank})", count=count, rank=run.worst_rank)
    texts = (f"   {peak}", f"  {peak}", f"  {short}")
    text = next((text for text in texts if row_width(line) + width_of(text) <= width), texts[-1])
    return (fit((*line, Span(text)), width),)


def _big(sight: Sight, peak: str, width: int, pen: Pen) -> tuple[Row, ...]:
    run, question = sight.own, sight.picture.question
    share = pen.numbers.fixed(run.bubble.over_makespan * 100, 1)
    time = time_text(run.makespan, question.unit, pen)
    figures = big_text(f"{time}   {share} %", pen.glyphs)
    shape = f"p {sight.picture.ranks}  m {question.shape[1]}"
    unit = tr("makespan, and bubble B") if not question.is_example else tr("example: makespan, and bubble B")
    words = (f"{run.name}  {shape}", unit, peak)
    return tuple(
        fit((Span(" "), Span(figures[line], "title"), Span(f"   {words[line]}")), width)
        for line in range(BIG_HEIGHT)
    )


def legend_row(sight: Sight, width: int, pen: Pen) -> Row:
    """The letters of the actions that occur, and what shades mean."""
    spans: list[Span] = []
    for name in (kind for kind in KINDS if any(kind in run.chart.kinds for run in sight.picture.runs)):
        spans += [Span(" "), chip(name, pen), Span(f" {explain(name)} ", "dim")]
    if (step := sight.own.chart.step) is not None:
        period = length_text(step.period, sight.picture.question.unit, pen)
        spans += [Span(" "), chip("optimizer", pen)]
        texts = (tr("optimizer step; one every {time}", time=period), explain("optimizer"))
        room = width - row_width(tuple(spans)) - 1
        spans += [Span(f" {text} ", "dim") for text in texts if width_of(text) <= room][:1]
    for note in _notes(sight, width):
        if row_width((*spans, note)) <= width:
            spans.append(note)
    return fit(tuple(spans), width)


def _notes(sight: Sight, width: int) -> Iterator[Span]:
    """What shades and small letters mean, the first the most needed."""
    if sight.look.critical:
        yield Span(f"  {tr('filled: the critical path')}", "accent")
    if any(sight.is_dense(run, width) for run in sight.picture.runs):
        yield Span(f"  {tr('small letter: the second kind')}", "dim")
    if any(len(run.chart.stages_of(0)) > 1 for run in sight.picture.runs):
        yield Span(f"  {tr('second shade: every other chunk')}", "dim")


def below_rows(sight: Sight, label: int, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Under the lanes: cursor and bubble where there are two rows, then axis, legend, panel as rows allow."""
    scale = (axis_row(sight, label, box.width, pen), legend_row(sight, box.width, pen))
    above = scale[: min(max(box.height - 2, 0), 2)]
    is_tall = box.height >= len(above) + CURSOR + PANEL
    bubble = bubble_panel(sight, box.width, pen) if is_tall else (bubble_row(sight, box.width, pen),)
    room = min(max(box.height - len(above) - len(bubble), 1), CURSOR)
    note = _runtime_row(sight, box.width) if room == CURSOR else ()
    room -= len(note)
    lines = packed(cursor_lines(sight, pen), room, box.width - 2)
    cursor = [_cursor_row(line, box.width, pen, first=at == 0) for at, line in enumerate(lines)]
    # Sentences come and go with the cursor; what stands beneath them stays where it is.
    blank = [fit((), box.width)] * (room - len(cursor))
    return (*above, *cursor, *blank, *note, *bubble)[: box.height]


def _runtime_row(sight: Sight, width: int) -> tuple[Row, ...]:
    """A schedule that keeps a stage on two ranks says where it cannot run; others say nothing."""
    if sight.own.chart.timeline.schedule.placement.replicas == 1:
        return ()
    return (fit((Span("  "), Span(runtime_note(), "dim")), width),)


def packed(lines: Sequence[str], rows: int, width: int) -> list[str]:
    """Sentences on so many rows, one at least: the last also takes those after it that it has room for."""
    kept = list(lines[:rows])
    for line in lines[rows:]:
        longer = f"{kept[-1]}   {line}"
        if width_of(longer) > width:
            break
        kept[-1] = longer
    return kept


def wide_below_rows(sight: Sight, label: int, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The same where the words have a column of their own."""
    return (axis_row(sight, label, box.width, pen), legend_row(sight, box.width, pen))[: box.height]


def ranking_rows(sight: Sight, table: Table, box: Box, pen: Pen) -> tuple[Row, ...]:
    """All schedules beneath a timeline that leaves room for them."""
    if box.height < LEAST_TABLE or not table.entries:
        return ()
    chosen = replace(table, name=sight.own.name)
    room = Box(box.width, box.height - 1)
    rows = schedule_table(tr("all schedules"), chosen, sight.picture.question, (room, pen))
    return (fit((), box.width), *rows)


def details_rows(sight: Sight, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The column at the side: bubble and cursor."""
    rows = [*bubble_panel(sight, box.width, pen), fit((), box.width)]
    title = tr("rank {rank} at {time}", rank=sight.look.rank,
               time=time_text(sight.look.playback.position, sight.picture.question.unit, pen))  # fmt: skip
    rows.append(rule_row(title, box.width, pen))
    for line in cursor_lines(sight, pen):
        rows += wrapped(line, box.width)
    return tuple(rows[: box.height])


def _cursor_row(line: str, width: int, pen: Pen, *, first: bool) -> Row:
    mark = pen.glyphs.pointer if first else " "
    return fit((Span(f"{mark} ", "accent"), Span(line, "text" if first else "dim")), width)
