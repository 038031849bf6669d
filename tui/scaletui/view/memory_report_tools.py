"""What other estimators say of a scenario's states, beside the budget's, and why they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaletui.text.language import tr
from scaletui.text.tools import tool_text
from scaletui.view.memory_report_table import sentence_table
from scaletui.view.row import Row, Span
from scaletui.view.rule import rule_row, wrapped
from scaletui.view.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.view.pen import Pen
    from scaletui_engine.memory.conventions.beside import Beside


def tools_rows(found: tuple[Beside, ...], width: int, pen: Pen) -> Iterator[Row]:
    """A line for each tool, the budget's own states first."""
    yield rule_row(tr("states a GPU by other tools, {unit}", unit=pen.numbers.unit), width, pen)
    lines = [(tr("this budget"), pen.numbers.gib(found[0].ours, 2), "")]
    lines += [(tool_text(one.tool), pen.numbers.gib(one.bytes, 2), _why(one)) for one in found]
    columns = (Column(""), Column("", numeric=True), Column(""))
    yield from sentence_table(columns, [tuple(map(Span, line)) for line in lines], width)
    yield from wrapped(tr("None of them counts activations, the loss or what is whole for a moment."), width)


def _why(one: Beside) -> str:
    return "; ".join(tool_text(reason) for reason in one.reasons) or tr("the same")
