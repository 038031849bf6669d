"""Comparing with a pinned scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.state import budget as view
from scaletui.state.answer import answer
from scaletui.state.budget import BudgetState
from scaletui.text.glyphs import ASCII
from scaletui.view.budget_compared import compared_rows, differences
from scaletui.view.budget_parts import parts_rows
from scaletui.view.pen import Pen
from scaletui_engine.edit import edit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaletui.state.answer import Answer
    from scaletui.view.row import Row


def text(rows: Iterable[Row]) -> list[str]:
    """Rows without their roles."""
    return ["".join(span.text for span in row).rstrip() for row in rows]


def test_changes_stay_while_something_is_pinned(small: Answer) -> None:
    pinned = view.pinned(BudgetState(small))
    once = view.answered(pinned, answer(edit(small.scenario, "seq", "2048")))
    twice = view.answered(view.settled(once), answer(edit(small.scenario, "seq", "1024")))
    assert twice.answer is not None
    now, then = twice.answer.budget.peak, small.budget.peak
    assert view.needed_change(view.settled(twice)) == now.needed_bytes - then.needed_bytes
    assert "change" in text(parts_rows(twice, 60, Pen()))[0]


def test_letting_go_forgets_the_comparison(small: Answer) -> None:
    free = view.pinned(view.pinned(BudgetState(small)))
    assert free.pinned is None
    assert view.needed_change(free) is None
    assert list(compared_rows(free, 40, Pen())) == []


def test_the_fields_that_differ_are_listed(small: Answer) -> None:
    other = edit(small.scenario, "tp", "2")
    fields = {field: (then, now) for field, then, now in differences(small.scenario, other)}
    assert fields == {"tp": ("1", "2"), "dp_shard": ("8", "4")}


def test_the_pinned_verdict_and_the_difference_stand_together(small: Answer) -> None:
    state = view.answered(view.pinned(BudgetState(small)), answer(edit(small.scenario, "gpus", "16")))
    lines = text(compared_rows(state, 46, Pen(ASCII)))
    assert lines[1].startswith(" y fits, ")
    assert any("gpus" in line and "8, now 16" in line for line in lines)
    same = text(compared_rows(view.pinned(BudgetState(small)), 46, Pen(ASCII)))
    assert any("The same scenario" in line for line in same)
