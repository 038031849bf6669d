"""The legend of the budget: each part with its letter, bytes, share, and what it is bytes of.

 ─ parts of stage 0 ──────── GiB ─── % ─ of what ────
 W  weights                  3.7     9  8.03 B x 4 / 8
While an edit is fresh, the last column says what it changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scaletui.state.budget import chosen_stage, looked_at, needed_change, part_lines, reference, room_lines
from scaletui.text.explain import explain
from scaletui.text.language import N_, tr
from scaletui.view.bars import chip
from scaletui.view.budget_origin import of_what
from scaletui.view.cells import left, right, width_of
from scaletui.view.row import Row, Span, fit, row_width
from scaletui.view.rule import heading, rule_row
from scaletui_engine.units import GIB

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState, RoomLine
    from scaletui.view.pen import Pen

NAME: Final = 14
SHORT: Final = 5
"""Cells that a name keeps beside a range wider than its column."""
AMOUNT: Final = 9
SHARE: Final = 4
CHANGE: Final = 9
LARGE: Final = 1000 * GIB
"""Ranges from which tenths are left out, so that a name keeps its room."""
WIDE: Final = 66
"""Cells from which change and "of what" have a column each."""
_REPORTED: Final = N_("of {capacity}")
_NOMINAL: Final = N_("of {capacity} nominal")


@dataclass(frozen=True, slots=True)
class _Line:
    chip: Span
    name: str
    amount: str
    share: str
    change: int | None
    origin: str
    is_chosen: bool = False
    is_room: bool = False
    """Whether more of it is better."""


def parts_rows(state: BudgetState, width: int, pen: Pen) -> tuple[Row, ...]:
    """Title, parts, and what stands beside them: always the same lines, so that nothing moves."""
    if looked_at(state) is None:
        return (_title(state, width, pen),)
    lines = [
        *_parts(state, pen),
        _total(state, pen),
        *(_room(line, pen) for line in room_lines(state)),
        _free(state, pen),
    ]
    return (_title(state, width, pen), *(_row(line, state, width, pen) for line in lines))


def _title(state: BudgetState, width: int, pen: Pen) -> Row:
    end = 4 + NAME + AMOUNT
    last = tr("change") if reference(state) and width < WIDE else tr("of what")
    heads = [(end + 1, pen.numbers.unit), (end + SHARE + 1, "%")]
    if width >= WIDE:
        heads.append((end + SHARE + CHANGE + 1, tr("change")))
        heads.append((end + SHARE + CHANGE + len(last) + 4, last))
    else:
        heads.append((end + SHARE + len(last) + 4, last))
    title = tr("parts of stage {stage}", stage=chosen_stage(state))
    return rule_row(heading(title, focus=state.focus == "parts"), width, pen, heads)


def _parts(state: BudgetState, pen: Pen) -> list[_Line]:
    return [
        _Line(
            chip(line.part, pen),
            explain(line.part),
            pen.numbers.gib(line.amount) if line.amount else "-",
            pen.numbers.fixed(line.share * 100, 0) if line.amount else "",
            line.change,
            of_what(line.part, state, pen),
            is_chosen=state.focus == "parts" and line.part == state.part,
        )
        for line in part_lines(state)
    ]


def _total(state: BudgetState, pen: Pen) -> _Line:
    stage = looked_at(state)
    assert stage is not None
    lines = part_lines(state)
    change = None if lines[0].change is None else sum(line.change or 0 for line in lines)
    when = explain(f"phase.{stage.phase}")
    return _Line(Span(" = "), tr("allocated"), pen.numbers.gib(stage.peak_bytes), "100", change, when)


def _room(line: RoomLine, pen: Pen) -> _Line:
    digits = 0 if line.span.high >= LARGE else 1
    low, high = (pen.numbers.gib(amount, digits) for amount in (line.span.low, line.span.high))
    names = {"reserved": tr("reserved"), "overhead": tr("driver")}
    whys = {"reserved": tr("in all, with pools"), "overhead": tr("in all, with CUDA")}
    mark = (
        chip(line.role, pen)
        if line.role == "overhead"
        else Span(f" {pen.glyphs.shades['reserved']} ", "reserved_fill")
    )
    return _Line(mark, names[line.role], f"{low}-{high}", "", line.change, whys[line.role])


def _free(state: BudgetState, pen: Pen) -> _Line:
    stage, budget = looked_at(state), state.budget
    assert stage is not None
    assert budget is not None
    free = budget.capacity_bytes - stage.needed_bytes
    change = needed_change(state)
    capacity = pen.numbers.bytes(budget.capacity_bytes)
    is_nominal = budget.capacity_is_nominal
    of = tr(_NOMINAL if is_nominal else _REPORTED, capacity=capacity)
    amount = pen.numbers.gib(abs(free))
    if free < 0:
        return _Line(Span("   "), tr("over"), amount, "", change, of)
    return _Line(Span("   "), tr("free"), amount, "", change and -change, of, is_room=True)


def _row(line: _Line, state: BudgetState, width: int, pen: Pen) -> Row:
    role = "cursor" if line.is_chosen else "text"
    amount = max(AMOUNT, min(width_of(line.amount) + 1, AMOUNT + NAME - SHORT))
    figures = Span(right(line.amount, amount) + right(line.share, SHARE), role)
    name = Span(left(f" {line.name}", NAME + AMOUNT + 1 - amount, pen.glyphs.ellipsis), role)
    change = _change(line, pen) if reference(state) else ""
    grows = "warn" if ((line.change or 0) > 0) is not line.is_room else "ok"
    head: Row = (line.chip, name, figures)
    if width >= WIDE:
        head = (*head, Span(right(change, CHANGE), grows))
    elif reference(state):
        return fit((*head, Span("  "), Span(change, grows)), width)
    room = max(width - row_width(head) - 2, 0)
    return fit((*head, Span(f"  {left(line.origin, room, pen.glyphs.ellipsis)}", "dim")), width)


def _change(line: _Line, pen: Pen) -> str:
    """Nothing for a change that would read 0.0."""
    text = pen.numbers.gib(abs(line.change or 0))
    return "" if text == pen.numbers.gib(0) else pen.numbers.signed(line.change or 0, pen.numbers.gib)
