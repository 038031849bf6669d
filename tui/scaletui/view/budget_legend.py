"""The left side of the budget: the legend, and below it what there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.view import budget_fixes, budget_step
from scaletui.view.box import Box
from scaletui.view.budget_parts import parts_rows
from scaletui.view.row import fit

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState
    from scaletui.view.pen import Pen
    from scaletui.view.row import Row

CURVE: Final = 16
"""Most rows of the picture of a step."""


def legend_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Legend, one step, and single changes, in at most the box's rows."""
    parts = parts_rows(state, box.width, pen)
    step, fixes = shares(box.height - len(parts), budget_fixes.wanted(state))
    rows = list(parts)
    if step:
        if box.height - len(parts) - step - fixes:
            rows.append(fit((), box.width))
        rows += budget_step.step_rows(state, Box(box.width, step), pen)
    if fixes:
        rows += budget_fixes.fixes_rows(state, Box(box.width, fixes), pen)
    return tuple(rows[: box.height])


def shares(left: int, wanted: int) -> tuple[int, int]:
    """Rows for the step and for the changes, of those that the legend leaves; the changes want so many."""
    if left < budget_step.LEAST:
        return 0, 0
    fixes = min(wanted, left - budget_step.LEAST)
    fixes = fixes if fixes >= budget_fixes.LEAST else 0
    return min(left - fixes, CURVE), fixes
