"""Two budgets in two columns, line by line: verdict, bar, parts, fields that differ, one step.

─ this: llama3-8b ───────────── │ ─ the other: llama3-8b ─────────────
 ✓ fits, 39.3 GiB free          │  ✗ over by 11.9 GiB on stage 0
 W    G    O       A   ┃        │  W    G    O       A         ┃over
 W  weights         3.7         │  W  weights         7.4    +3.7
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.study import cells_of
from scaletui.text.explain import explain
from scaletui.text.language import ntr, tr
from scaletui.view.bars import Bar, chip, track_row
from scaletui.view.box import Box
from scaletui.view.budget_answer import verdict_spans
from scaletui.view.budget_compared import differences
from scaletui.view.budget_stages import stage_parts
from scaletui.view.budget_step import curve_rows
from scaletui.view.cells import crop, left, right
from scaletui.view.facts import scenario_facts
from scaletui.view.field_names import field_name
from scaletui.view.row import Row, Span, fit, row_width
from scaletui.view.rule import pair_row, rule_row, wrapped
from scaletui.view.trace import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.beside import Beside, Side
    from scaletui.view.pen import Pen

NAME: Final = 15
AMOUNT: Final = 8
CHANGE: Final = 9
LEAST_CURVE: Final = 3
"""Rows from which a step has a picture: its title, a line of curve and one more."""
MOST_CURVE: Final = 14
NEAR: Final = 4 + NAME + AMOUNT + CHANGE
"""Cells within which a field and its value stand: farther apart the eye loses the line."""
_KEYS: Final = 1


def beside_rows(beside: Beside, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Exactly the box: two columns with a line between them, the keys in the last row."""
    bar = f" {pen.glyphs.vertical} "
    widths = ((box.width - len(bar)) // 2, box.width - len(bar) - (box.width - len(bar)) // 2)
    height = box.height - _KEYS
    columns = [
        _column(beside, place, Box(width, height), pen) for place, width in zip((0, 1), widths, strict=True)
    ]
    rows = [fit((*one, Span(bar, "border"), *two), box.width) for one, two in zip(*columns, strict=True)]
    return (*rows, _keys(box.width))


def _column(beside: Beside, place: int, box: Box, pen: Pen) -> list[Row]:
    side, width = beside.sides[place], box.width
    rows = [
        *_head(side, tr("the other") if place else tr("this"), width, pen),
        _bar(side, beside.scale, width, pen),
        *_parts(beside, place, width, pen),
    ]
    rows += _fields(beside, place, Box(width, box.height - len(rows)), pen)
    rows += _step(beside, side, Box(width, min(box.height - len(rows), MOST_CURVE)), pen)
    return (rows + [fit((), width)] * (box.height - len(rows)))[: box.height]


def _head(side: Side, name: str, width: int, pen: Pen) -> Iterator[Row]:
    model, *facts = scenario_facts(side.answer.scenario, pen)
    yield rule_row(f"{name}: {model}", width, pen)
    yield fit((Span(" " + crop("  ".join(facts), width - 1, pen.glyphs.ellipsis), "dim"),), width)
    moment = tr("peak: {moment}", moment=explain(f"phase.{side.shown.phase}"))
    verdict = verdict_spans(side.answer.budget, pen)
    whole = (*verdict, Span("   " + moment, "dim"))
    yield fit(whole if row_width(whole) <= width else verdict, width)


def _bar(side: Side, scale: int, width: int, pen: Pen) -> Row:
    bar = Bar("", stage_parts(side.shown))
    track = track_row(bar, (side.answer.budget.capacity_bytes, scale), width - 2, pen)
    return fit((Span(" "), *track), width)


def _parts(beside: Beside, place: int, width: int, pen: Pen) -> Iterator[Row]:
    side = beside.sides[place]
    end = 4 + NAME + AMOUNT
    heads = [(end, pen.numbers.unit)]
    if place:
        heads.append((end + CHANGE, tr("change")))
    yield rule_row(tr("stage {stage}", stage=side.place), width, pen, heads)
    lines = zip(_amounts(beside.here, pen), _amounts(beside.other, pen), strict=True)
    for here, other in lines:
        mark, name, amount = other if place else here
        shown = pen.numbers.gib(amount) if amount else "-"
        row = (mark, Span(left(f" {name}", NAME + 1) + right(shown, AMOUNT - 1)))
        yield fit((*row, *(_change(other[2] - here[2], name, pen) if place else ())), width)


def _amounts(side: Side, pen: Pen) -> Iterator[tuple[Span, str, int]]:
    """Every part, those of 0 bytes too, then what stands beside them: the same lines on both sides."""
    stage, capacity = side.shown, side.answer.budget.capacity_bytes
    for part, amount in stage.parts.items():
        yield chip(part, pen), explain(part), amount
    yield Span(" = "), tr("allocated"), stage.peak_bytes
    yield Span("   "), tr("reserved, max"), stage.reserved.high
    yield Span("   "), tr("driver, max"), stage.needed_bytes
    yield Span("   "), tr("capacity"), capacity
    yield Span("   "), tr("free"), capacity - stage.needed_bytes


def _change(change: int, name: str, pen: Pen) -> Row:
    """The other less this one; nothing for a change that would read 0.0."""
    text = pen.numbers.gib(abs(change))
    if text == pen.numbers.gib(0):
        return ()
    is_room = name in (tr("free"), tr("capacity"))
    role = "ok" if (change > 0) is is_room else "warn"
    return (Span(right(pen.numbers.signed(change, lambda _: text), CHANGE), role),)


def _fields(beside: Beside, place: int, box: Box, pen: Pen) -> Iterator[Row]:
    """As many as there is room for; the last line says how many are left out."""
    yield rule_row(tr("what differs"), box.width, pen)
    found = list(differences(beside.here.answer.scenario, beside.other.answer.scenario))
    near = min(box.width, NEAR)
    count = len(found) if len(found) < box.height else max(box.height - 2, 0)
    for field, here, other in found[:count]:
        yield fit(pair_row(field_name(field), other if place else here, near, pen), box.width)
    if not found:
        yield from wrapped(tr("no field differs"), box.width, "dim")
    elif count < len(found):
        more = ntr("{n} more, in a taller window", "{n} more, in a taller window", len(found) - count)
        yield fit((Span(f" {pen.glyphs.ellipsis} {more}", "dim"),), box.width)


def _step(beside: Beside, side: Side, box: Box, pen: Pen) -> Iterator[Row]:
    """One step of both on one scale; blank until the engine has answered."""
    if box.height < LEAST_CURVE:
        return
    if side.step is None:
        yield rule_row(tr("one step"), box.width, pen)
        return
    peak = pen.numbers.bytes(side.shown.peak_bytes)
    heads = [(box.width - 1, tr("peak {amount}", amount=peak))]
    yield rule_row(tr("one step"), box.width, pen, heads)
    cells = cells_of(side.step, max(box.width - 2, 1))
    scale = Scale(0.0, float(beside.scale), float(side.answer.budget.capacity_bytes))
    for row in curve_rows(cells, scale, Box(len(cells), box.height - 1), pen):
        yield fit((Span(" "), *row), box.width)


def _keys(width: int) -> Row:
    names = (
        (". ,", tr("stage")),
        ("x", tr("swap")),
        ("enter", tr("take the other")),
        ("esc", tr("leave")),
    )
    return fit(
        tuple(s for key, what in names for s in (Span(f" {key} ", "key"), Span(f"{what} ", "dim"))), width
    )
