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

FIXES: Final = 12
"""Most rows of changes that are listed."""
CURVE: Final = 10
"""Most rows of the picture of a step."""


def legend_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Legend, one step, and single changes, in at most the box's rows."""
    parts = parts_rows(state, box.width, pen)
    step, fixes = shares(box.height - len(parts))
    rows = list(parts)
    if step:
        if box.height - len(parts) - step - fixes:
            rows.append(fit((), box.width))
        rows += budget_step.step_rows(state, Box(box.width, step), pen)
    if fixes:
        rows += budget_fixes.fixes_rows(state, Box(box.width, fixes), pen)
    return tuple(rows[: box.height])


def shares(left: int) -> tuple[int, int]:
    """Rows for the step and for the changes, of those that the legend leaves."""
    if left < budget_step.LEAST:
        return 0, 0
    step = min(max(left // 3, budget_step.LEAST), CURVE)
    fixes = min(left - step, FIXES)
    return step, fixes if fixes >= budget_fixes.LEAST else 0
