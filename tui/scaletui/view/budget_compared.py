"""What the budget is compared with: the fields that differ, and whether that one fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state.editing import value_text
from scaletui.text.language import tr
from scaletui.view.budget_answer import verdict_spans
from scaletui.view.field_names import field_name
from scaletui.view.row import Row, fit
from scaletui.view.rule import pair_row, rule_row, wrapped
from scaletui_engine.edit import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.budget import BudgetState
    from scaletui.view.pen import Pen
    from scaletui_engine.scenario import Scenario


def compared_rows(state: BudgetState, width: int, pen: Pen) -> Iterator[Row]:
    """Nothing where nothing is pinned."""
    if state.pinned is None or state.answer is None:
        return
    yield rule_row(tr("compared with"), width, pen)
    yield fit(verdict_spans(state.pinned.budget, pen), width)
    changed = list(differences(state.pinned.scenario, state.answer.scenario))
    for field, then, now in changed:
        yield pair_row(field_name(field), tr("{then}, now {now}", then=then, now=now), width, pen)
    if not changed:
        yield from wrapped(tr("The same scenario; edit it to see what differs."), width, "dim")
    yield fit((), width)


def differences(one: Scenario, other: Scenario) -> Iterator[tuple[str, str, str]]:
    """(field, its value there, its value here) of every field that differs."""
    for field in FIELDS:
        then, now = value_text(one, field), value_text(other, field)
        if then != now:
            yield field, then, now
