"""The second column: every stage in a table, the ranges beside the parts, and what was assumed."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scaletui.state.budget import chosen_stage, looked_at
from scaletui.text.explain import explain
from scaletui.text.language import N_, tr
from scaletui.text.model_notes import model_notes
from scaletui.view.assumed import idle_warning
from scaletui.view.budget_compared import compared_rows
from scaletui.view.budget_stages import window
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import heading, pair_row, rule_row, wrapped
from scaletui.view.table import Column, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.budget import BudgetState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.memory.budget import ByteRange, MemoryBudget

BESIDE: Final = 12
"""Rows that ranges and assumptions want below the table of stages."""
MOMENTS: Final = MappingProxyType({
    "forward": N_("forward"), "loss": N_("loss"), "backward": N_("backward"),
    "end_of_backward": N_("end"), "step": N_("step"),
})  # fmt: skip
"""The moments of a step in one word."""


def details_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds."""
    budget, stage = state.budget, looked_at(state)
    if budget is None or stage is None:
        return (rule_row(tr("stages"), box.width, pen),)
    rows = [
        *compared_rows(state, box.width, pen),
        *_stages(state, budget, box, pen),
        fit((), box.width),
        rule_row(tr("beside the parts"), box.width, pen),
        *_range(tr("reserved"), stage.reserved, box.width, pen),
        *_range(tr("outside"), stage.outside, box.width, pen),
        fit((), box.width),
        rule_row(tr("assumed"), box.width, pen),
        *_assumed(state, budget, box.width, pen),
    ]
    return tuple(rows[: box.height])


def _stages(state: BudgetState, budget: MemoryBudget, box: Box, pen: Pen) -> Iterator[Row]:
    count = len(budget.stages)
    first, last = window(count, chosen_stage(state), max(box.height - BESIDE, 3))
    more = tr("{first} to {last} of {count}", first=first, last=last - 1, count=count)
    title = tr("stages") if last - first == count else f"{tr('stages')} {more}"
    yield rule_row(heading(title, focus=state.focus == "stages"), box.width, pen)
    columns = (
        Column(" "),
        Column(tr("allocated"), numeric=True),
        Column(tr("needs"), numeric=True),
        Column(tr("free"), numeric=True),
        Column(tr("peak"), shrinks=True, rank=1),
    )
    lines = [_line(state, budget, index, pen) for index in range(first, last)]
    yield from table_rows(columns, lines, box.width, pen.glyphs.ellipsis)


def _line(state: BudgetState, budget: MemoryBudget, index: int, pen: Pen) -> tuple[Span, ...]:
    stage = budget.stages[index]
    free = budget.capacity_bytes - stage.needed_bytes
    role = "accent" if index == chosen_stage(state) else "text"
    mark = pen.glyphs.mark if state.answer and index == state.answer.worst else " "
    return (
        Span(f"{mark}{stage.stage}", role),
        Span(pen.numbers.gib(stage.peak_bytes), role),
        Span(pen.numbers.gib(stage.needed_bytes), role),
        Span(pen.numbers.gib(free), role if free >= 0 else "error"),
        Span(tr(MOMENTS.get(stage.phase, stage.phase)), "dim"),
    )


def _range(name: str, span: ByteRange, width: int, pen: Pen) -> Iterator[Row]:
    low, high = pen.numbers.gib(span.low), pen.numbers.bytes(span.high)
    yield pair_row(Span(name), tr("{low} to {high}", low=low, high=high), width, pen)
    yield from wrapped(explain(span.why), width, "dim", "   ")


def _assumed(state: BudgetState, budget: MemoryBudget, width: int, pen: Pen) -> Iterator[Row]:
    if state.answer and (warning := idle_warning(state.answer.scenario, pen)):
        yield from wrapped(warning, width, "warn")
    for note in model_notes(state.answer.scenario.model) if state.answer else ():
        yield from wrapped(note, width, "dim")
    for assumption in budget.assumptions:
        yield from wrapped(explain(assumption), width, "dim")
    capacity = pen.numbers.bytes(budget.capacity_bytes)
    if budget.capacity_is_nominal:
        sentence = tr(
            "capacity {capacity}: the marketed size, no source says what the driver reports",
            capacity=capacity,
        )
    else:
        sentence = tr("capacity {capacity}: what the driver reports in total", capacity=capacity)
    yield from wrapped(sentence, width, "dim")
