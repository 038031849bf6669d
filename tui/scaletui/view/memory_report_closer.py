"""The closer look of the memory report: one step of a stage against time, and every part taken apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scaletui.state.budget import closer_look, looked_at
from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.box import Box
from scaletui.view.budget_explain import explain_rows
from scaletui.view.budget_step import step_rows
from scaletui.view.row import Row, Span
from scaletui.view.rule import wrapped
from scaletui.view.table import Column, table_rows
from scaletui_themes.roles import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.budget import BudgetState
    from scaletui.view.pen import Pen
    from scaletui_engine.memory.timeline import Point, StepTimeline

HEIGHT: Final = 12
"""Rows of the curve with its title and its phases."""
_ENDLESS: Final = 10_000
"""Rows that no part's explanation reaches."""


def step_section(state: BudgetState, width: int, pen: Pen) -> Iterator[Row]:
    """The curve, and the highest point of every phase; the state must have its closer look."""
    study, budget = closer_look(state), state.budget
    assert study is not None
    assert budget is not None
    step, hatch = study.step, pen.glyphs.hatch
    curve = step_rows(state, Box(width, HEIGHT), pen)
    yield from (_printed(row, hatch) for row in curve)
    if any(span.role == fill("over") for row in curve for span in row):
        yield from wrapped(tr("{mark} is over the capacity", mark=hatch), width)
    top = max(budget.capacity_bytes, step.points[step.peak].parts.total)
    yield from wrapped(tr("the top of the curve is {amount}", amount=pen.numbers.bytes(top)), width)
    if step.shown < step.microbatches:
        words = tr("drawn: {shown} of {count} microbatches", shown=step.shown, count=step.microbatches)
        yield from wrapped(words, width)
    yield ()
    yield from _moments(step, width, pen)


def _printed(row: Row, hatch: str) -> Row:
    """What the screen says with a ground alone, said with a character."""
    over = fill("over")
    return tuple(Span(hatch * len(span.text), over) if span.role == over else span for span in row)


def _moments(step: StepTimeline, width: int, pen: Pen) -> tuple[Row, ...]:
    columns = (
        Column(""),
        Column(tr("highest in")),
        Column(tr("microbatch"), numeric=True),
        Column(tr("layer"), numeric=True),
        Column(pen.numbers.unit, numeric=True),
    )
    peak = step.points[step.peak]
    lines = [
        (
            Span(pen.glyphs.mark if point is peak else ""),
            Span(_moment(point.phase)),
            Span(_number(point.microbatch)),
            Span(_number(point.layer)),
            Span(pen.numbers.gib(point.parts.total, 2)),
        )
        for point in highest_points(step)
    ]
    return table_rows(columns, lines, width)


def highest_points(step: StepTimeline) -> tuple[Point, ...]:
    """The highest point of every phase, the first of equals, in the order of the phases."""
    best: dict[str, Point] = {}
    for point in step.points:
        if point.phase not in best or point.parts.total > best[point.phase].parts.total:
            best[point.phase] = point
    return tuple(best.values())


def _moment(phase: str) -> str:
    return explain(phase if phase == "forward" else f"phase.{phase}")


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def parts_section(state: BudgetState, width: int, pen: Pen) -> Iterator[Row]:
    """Every part that has bytes, down to terms, tensors, formula and source."""
    stage = looked_at(state)
    assert stage is not None
    parts = [part for part, amount in stage.parts.items() if amount]
    for place, part in enumerate(parts):
        if place:
            yield ()
        yield from explain_rows(replace(state, part=part), Box(width, _ENDLESS), pen)
