"""One stacked bar for each pipeline stage: parts, the allocator's reserve, and what lies outside of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scaletui.state.budget import chosen_stage, reserve
from scaletui.text.language import tr
from scaletui.view.bars import Bar, bar_rows
from scaletui.view.big import BIG_HEIGHT
from scaletui.view.row import Row, fit

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen
    from scaletui_engine.memory.budget import MemoryBudget, StageBudget


def stage_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many bars as the box holds, the stage that is looked at among them."""
    budget = state.budget
    if budget is None:
        return (fit((), box.width),) * box.height
    tall = rows_a_bar(len(budget.stages), box.height, pen)
    first, last = window(len(budget.stages), chosen_stage(state), box.height // tall)
    bars = [_bar(state, index, _edge(budget, index, (first, last), pen), pen) for index in range(first, last)]
    if tall > 1 and not pen.big:
        bars = [line for bar in bars for line in (bar, replace(bar, label="", note=""))]
    return bar_rows(bars, budget.capacity_bytes, box.width, pen)


def rows_a_bar(count: int, height: int, pen: Pen) -> int:
    """Rows of each of so many bars: three for the back row, two where there is plenty of room."""
    if pen.big:
        return BIG_HEIGHT
    return 2 if height >= 2 * count else 1


def window(count: int, chosen: int, room: int) -> tuple[int, int]:
    """Half-open range of `room` of `count` things with the chosen one as near the middle as can be."""
    room = max(min(room, count), 1)
    first = min(max(chosen - room // 2, 0), count - room)
    return first, first + room


def stage_parts(stage: StageBudget) -> tuple[tuple[str, int], ...]:
    """What a bar stacks up: the parts, then the high ends of the reserve and of what is outside."""
    return (*stage.parts.items(), ("reserved", reserve(stage).high), ("overhead", stage.outside.high))


def _bar(state: BudgetState, index: int, edge: str, pen: Pen) -> Bar:
    budget = state.budget
    assert budget is not None
    stage = budget.stages[index]
    is_chosen = index == chosen_stage(state)
    is_over = stage.needed_bytes > budget.capacity_bytes
    mark = pen.glyphs.pointer if is_chosen and state.focus == "stages" else " "
    return Bar(
        label=f"{mark}{tr('stage {stage}', stage=stage.stage)}{edge}",
        parts=stage_parts(stage),
        note=pen.numbers.gib(stage.needed_bytes),
        label_role="accent" if is_chosen and len(budget.stages) > 1 else "text",
        note_role="error" if is_over else "text",
    )


def _edge(budget: MemoryBudget, index: int, shown: tuple[int, int], pen: Pen) -> str:
    """A mark on the first and the last bar where more lie beyond."""
    first, last = shown
    if index == first and first > 0:
        return f" {pen.glyphs.up}"
    return f" {pen.glyphs.down}" if index == last - 1 and last < len(budget.stages) else ""
