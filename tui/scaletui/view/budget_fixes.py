"""What one change would do: those that would make it fit, or how much further a plan that fits could go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.budget import closer_look
from scaletui.state.editing import value_text
from scaletui.state.picking import Item
from scaletui.text.language import tr
from scaletui.text.terms import term
from scaletui.view.cells import left, right
from scaletui.view.field_names import field_name
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState
    from scaletui.state.study import Study
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.memory.fixes import Fix
    from scaletui_engine.memory.solve import Solution

LEAST: Final = 2
FITS: Final = 4
"""Rows for the limits of a plan that fits."""
MOST: Final = 12
"""Most rows of changes that are listed."""
SAVES: Final = 8
"""Cells of the bytes that a change saves."""


def wanted(state: BudgetState) -> int:
    """Rows that title and changes would fill; what is known before the engine has looked closer."""
    if state.budget is None or state.budget.fits:
        return FITS
    study = closer_look(state)
    return min(len(study.fixes) + 1, MOST) if study else MOST


def fixes_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title and as many changes as there is room for."""
    study, budget = closer_look(state), state.budget
    if study is None or budget is None:
        return (rule_row(tr("one change"), box.width, pen), *(fit((), box.width),) * (box.height - 1))
    if budget.fits:
        lines = [_limit(found, box.width, pen) for found in study.solutions]
        title = tr("would also fit")
    else:
        lines = [_fix(fix, box.width, pen) for fix in study.fixes]
        title = tr("one change that would make it fit")
        if not any(fix.fits for fix in study.fixes):
            title = tr("no single change makes it fit; these save most")
    return tuple([rule_row(title, box.width, pen), *lines][: box.height])


def _fix(fix: Fix, width: int, pen: Pen) -> Row:
    mark = Span(f" {pen.glyphs.ok} ", "ok") if fix.fits else Span("   ")
    saves = right(f"-{pen.numbers.gib(fix.saved_bytes)}", SAVES)
    room = max(min(width - SAVES - COST, NAMES), 8)
    name = left(fix_name(fix), room, pen.glyphs.ellipsis)
    cost = left(cost_text(fix, pen), max(width - room - SAVES - 4, 0), pen.glyphs.ellipsis)
    return fit((mark, Span(name), Span(saves, "ok"), Span(f" {cost}", "dim")), width)


NAMES: Final = 26
"""Cells of what a change is called."""
COST: Final = 24
"""Cells that a name leaves for what a change costs, and for marks."""


def _limit(found: Solution, width: int, pen: Pen) -> Row:
    if found.value is None or found.budget is None:
        text = tr("{field}: no value fits", field=field_name(found.field))
        return fit((Span(f"   {text}", "dim"),), width)
    free = tr("{amount} free", amount=pen.numbers.bytes(found.budget.headroom_bytes))
    value = pen.numbers.integer(found.value)
    words = tr("{field} down to {value}") if found.field == "gpus" else tr("{field} up to {value}")
    text = words.format(field=field_name(found.field), value=value)
    return fit((Span(f" {pen.glyphs.ok} ", "ok"), Span(left(text, NAMES)), Span(f"  {free}", "dim")), width)


def fix_name(fix: Fix) -> str:
    """What a change is called: the field with its new value, or the sentence of a switch that is no field."""
    if fix.field == "runtime":
        return term(fix.id)
    return f"{field_name(fix.field)} {value_text(fix.scenario, fix.field)}"


def cost_text(fix: Fix, pen: Pen) -> str:
    """What a change takes in return."""
    cost = fix.cost
    text = term(cost.why)
    if cost.percent is not None:
        text = f"+{cost.percent} % {text}"
    return text if cost.bytes is None else f"{text}: {pen.numbers.size(cost.bytes)}"


def fix_items(study: Study, pen: Pen) -> tuple[Item, ...]:
    """The changes as a list to choose from."""
    return tuple(
        Item(
            str(index),
            fix_name(fix),
            f"{right(pen.numbers.bytes(fix.saved_bytes), 10)}  "
            f"{tr('fits') if fix.fits else tr('over')}  {cost_text(fix, pen)}",
        )
        for index, fix in enumerate(study.fixes)
    )
