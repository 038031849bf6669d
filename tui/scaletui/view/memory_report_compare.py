"""Two scenarios side by side: the fields that differ, the parts of the fullest stages, signed differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.budget_answer import verdict_spans
from scaletui.view.budget_compared import differences
from scaletui.view.budget_details import MOMENTS
from scaletui.view.field_names import field_name
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.table import Column, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.answer import Answer
    from scaletui.view.pen import Pen
    from scaletui.view.table import Line
    from scaletui_engine.memory.budget import MemoryBudget


def compare_rows(here: Answer, other: Answer, width: int, pen: Pen) -> Iterator[Row]:
    """A table each for what was chosen and for what it takes; the difference is the other less this one."""
    yield rule_row(tr("this scenario and the other"), width, pen)
    for name, answer in ((tr("this"), here), (tr("other"), other)):
        yield fit((Span(f" {name}:"), *verdict_spans(answer.budget, pen)), width)
    yield ()
    fields = [
        (Span(field_name(field)), Span(mine), Span(theirs))
        for field, mine, theirs in differences(here.scenario, other.scenario)
    ]
    if fields:
        columns = (Column(tr("field")), Column(tr("this"), shrinks=True), Column(tr("other"), shrinks=True))
        yield from table_rows(columns, fields, width, pen.glyphs.ellipsis)
    else:
        yield from wrapped(tr("no field differs"), width)
    yield ()
    yield from _amounts(here.budget, other.budget, width, pen)


def _amounts(here: MemoryBudget, other: MemoryBudget, width: int, pen: Pen) -> tuple[Row, ...]:
    columns = (
        Column(pen.numbers.unit),
        Column(tr("this"), numeric=True),
        Column(tr("other"), numeric=True),
        Column(tr("difference"), numeric=True),
    )
    lines = [_moments(here, other), *(_line(amount, pen) for amount in amounts(here, other))]
    return table_rows(columns, lines, width)


def _moments(here: MemoryBudget, other: MemoryBudget) -> Line:
    stages = (
        f"{budget.peak.stage}, {tr(MOMENTS.get(budget.peak.phase, budget.peak.phase))}"
        for budget in (here, other)
    )
    return (Span(tr("fullest stage")), *(Span(text) for text in stages), Span(""))


def amounts(here: MemoryBudget, other: MemoryBudget) -> Iterator[tuple[str, int, int]]:
    """(name, bytes here, bytes there): the parts that either has, and what stands beside them."""
    one, two = here.peak, other.peak
    theirs = dict(two.parts.items())
    for part, amount in one.parts.items():
        if amount or theirs[part]:
            yield explain(part), amount, theirs[part]
    yield tr("allocated"), one.peak_bytes, two.peak_bytes
    yield tr("reserved, at most"), one.reserved.high, two.reserved.high
    yield tr("outside, at most"), one.outside.high, two.outside.high
    yield tr("needs"), one.needed_bytes, two.needed_bytes
    yield tr("capacity"), here.capacity_bytes, other.capacity_bytes
    yield tr("free"), here.headroom_bytes, other.headroom_bytes


def _line(amount: tuple[str, int, int], pen: Pen) -> Line:
    name, here, there = amount
    figures = (pen.numbers.gib(here, 2), pen.numbers.gib(there, 2), _signed(there - here, pen))
    return (Span(name), *map(Span, figures))


def _signed(change: int, pen: Pen) -> str:
    """A change that would read 0.00 has no sign."""
    text = pen.numbers.gib(abs(change), 2)
    return text if text == pen.numbers.gib(0, 2) else pen.numbers.signed(change, lambda _: text)
