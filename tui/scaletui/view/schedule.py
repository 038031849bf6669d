"""The schedule screen: one line that says where the time goes, the timeline, and who holds which layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.explain import explain
from scaletui.text.language import ntr, tr
from scaletui.view.bars import chip
from scaletui.view.budget_stages import window
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import pair_row, rule_row, wrapped
from scaletui.view.table import Column, table_rows
from scaletui.view.timeline import Block, Lane, timeline_rows, window_of

if TYPE_CHECKING:
    from scaletui.state.schedule import SchedulePicture, Step
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen


def schedule_answer(picture: SchedulePicture, width: int, pen: Pen) -> Row:
    """Makespan, bubble by its definition, and the rank that holds most."""
    ranks = len(picture.layers)
    if ranks == 1:
        words = tr("no pipeline: one stage holds all {layers} layers", layers=picture.layers[0][0].stop)
        return fit((Span(f" {words}", "title"),), width)
    if not picture.lanes:
        words = tr("{name}: {ranks} ranks x {microbatches} microbatches are too many to draw",
                   name=picture.name, ranks=ranks, microbatches=picture.microbatches)  # fmt: skip
        return fit((Span(f" {words}", "title"),), width)
    numbers = pen.numbers
    worst = picture.worst_rank
    bubble = tr("bubble {percent} of the makespan (B)", percent=numbers.percent(picture.over_makespan, 1))
    peak = tr("peak {count} microbatches on rank {rank}", count=_plain(picture.peaks[worst], pen), rank=worst)
    return fit((Span(f" {bubble}", "title"), Span(f"   {peak}")), width)


def timeline_of(picture: SchedulePicture, rank: int, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title and one lane for each rank that fits, the chosen one among them."""
    title = rule_row(tr("simulated: stages equal, forward 1 t, backward 2 t, messages free"), box.width, pen)
    tall = 2 if pen.big else 1
    first, last = window(len(picture.lanes), rank, (box.height - 1) // tall)
    marks = {rank: pen.glyphs.pointer}
    # Letters of actions that have no cell of their own would be noise, where hues tell them apart.
    has_text = pen.glyphs.spells_actions or picture.makespan <= box.width
    lanes = [
        Lane(
            f"{marks.get(index, ' ')}{tr('rank {rank}', rank=index)}", _blocks(picture.lanes[index], has_text)
        )
        for index in range(first, last)
    ]
    return (title, *timeline_rows(lanes, window_of(lanes, box.width), pen)) if lanes else (title,)


def _blocks(steps: tuple[Step, ...], has_text: bool) -> tuple[Block, ...]:
    return tuple(
        Block(step.start, step.end, str(step.microbatch) if has_text else "", _role(step)) for step in steps
    )


def _role(step: Step) -> str:
    return step.kind + ("_odd" if step.chunk % 2 else "")


def legend_row(width: int, pen: Pen) -> Row:
    """The letters of the actions."""
    spans: list[Span] = []
    for name in ("forward", "backward", "input_grad", "weight_grad"):
        spans += [Span(" "), chip(name, pen), Span(f" {explain(name)}  ", "dim")]
    return fit(tuple(spans), width)


def stage_table(picture: SchedulePicture, rank: int, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Which layers each rank holds, and what it keeps and waits."""
    count = len(picture.layers)
    first, last = window(count, rank, max(box.height - 2, 1))
    columns = (
        Column(tr("rank"), numeric=True),
        Column(tr("layers")),
        Column(tr("peak"), numeric=True),
        Column(tr("idle"), numeric=True),
    )
    lines = [_line(picture, index, rank, pen) for index in range(first, last)]
    title = rule_row(tr("who holds which layers"), box.width, pen)
    return (title, *table_rows(columns, lines, box.width, pen.glyphs.ellipsis))[: box.height]


def _line(picture: SchedulePicture, index: int, rank: int, pen: Pen) -> tuple[Span, ...]:
    role = "accent" if index == rank else "text"
    layers = ", ".join(f"{part.start}-{part.stop - 1}" for part in picture.layers[index] if len(part))
    if not picture.lanes:
        return (Span(str(index), role), Span(layers, role), Span(""), Span(""))
    busy = sum(step.end - step.start for step in picture.lanes[index])
    idle = pen.numbers.percent(1 - busy / picture.makespan)
    peak = _plain(picture.peaks[index], pen)
    return (Span(str(index), role), Span(layers, role), Span(peak, role), Span(idle, role))


def definitions(picture: SchedulePicture, box: Box, pen: Pen) -> tuple[Row, ...]:
    """The makespan and the bubble by each of its definitions."""
    numbers = pen.numbers
    rows = [rule_row(tr("the bubble, by definition"), box.width, pen)]
    if picture.lanes:
        for name, share in (
            (tr("A  idle over ideal time"), picture.over_ideal),
            (tr("B  idle over makespan"), picture.over_makespan),
            (tr("C  without staggered ends"), picture.zero_bubble),
        ):
            rows.append(pair_row(name, numbers.percent(share, 1), box.width, pen, ("text", "text")))
        rows.append(pair_row(tr("makespan"), f"{numbers.fixed(picture.makespan, 1)} t", box.width, pen))
    microbatches = ntr("{n} microbatch", "{n} microbatches", picture.microbatches)
    rows += wrapped(f"{picture.name}, {microbatches}", box.width, "dim")
    return tuple(rows[: box.height])


def _plain(value: float, pen: Pen) -> str:
    return pen.numbers.fixed(value, 0 if value == int(value) else 1)
