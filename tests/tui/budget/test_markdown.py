"""The budget as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.view.budget_markdown import budget_markdown
from scaletui.view.pen import Pen

if TYPE_CHECKING:
    from scaletui.state.answer import Answer


def test_every_table_is_square_and_every_stage_has_a_line(wide: Answer) -> None:
    page = budget_markdown(wide, Pen())
    tables = [block.splitlines() for block in page.split("\n\n") if block.startswith("|")]
    assert [{line.count("|") for line in table} for table in tables] == [{14}, {3}]
    assert len(tables[0]) == 2 + 16
    assert "| global batch | 2048 |" in page


def test_the_page_begins_with_the_answer(over: Answer) -> None:
    head, _, verdict, *_ = budget_markdown(over, Pen()).splitlines()
    assert head.startswith("# llama3-8b")
    assert "over by" in verdict
