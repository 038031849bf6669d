"""The legend for the back row of a classroom: the largest parts, each with a figure three lines tall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.budget import chosen_stage, part_lines
from scaletui.text.explain import explain
from scaletui.text.language import tr
from scaletui.view.bars import chip
from scaletui.view.big import BIG_HEIGHT, big_text
from scaletui.view.cells import left, right
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import heading, rule_row

if TYPE_CHECKING:
    from scaletui.state.budget import BudgetState, PartLine
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

NAME: Final = 15
FIGURE: Final = 24
"""Cells of the largest figure, "1,234.5"."""


def big_parts_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """Title, as many of the largest parts as there is room for, and the sum of the others."""
    title = tr("parts of stage {stage}, {unit}", stage=chosen_stage(state), unit=pen.numbers.unit)
    shown, rest = largest(part_lines(state), (box.height - 2) // BIG_HEIGHT)
    rows = [rule_row(heading(title, focus=state.focus == "parts"), box.width, pen)]
    for line in shown:
        rows += _figure(line, state, box.width, pen)
    if rest:
        words = tr("all other parts {amount}", amount=pen.numbers.bytes(rest))
        rows.append(fit((Span(f"    {words}", "dim"),), box.width))
    return tuple(rows)


def largest(lines: tuple[PartLine, ...], room: int) -> tuple[list[PartLine], int]:
    """The largest parts in their own order, and the bytes of those left out."""
    ranked = sorted((line for line in lines if line.amount), key=lambda line: -line.amount)
    kept = ranked[: max(room, 0)]
    return [line for line in lines if line in kept], sum(line.amount for line in ranked[len(kept) :])


def _figure(line: PartLine, state: BudgetState, width: int, pen: Pen) -> list[Row]:
    role = "cursor" if state.focus == "parts" and line.part == state.part else "text"
    digits = big_text(pen.numbers.gib(line.amount), pen.glyphs)
    mark = chip(line.part, pen)
    names = ("", explain(line.part), "")
    return [
        fit(
            (
                Span(mark.text if index == 1 else "   ", mark.role),
                Span(left(f" {names[index]}", NAME + 1, pen.glyphs.ellipsis), role),
                Span(right(digits[index], FIGURE), "title"),
            ),
            width,
        )
        for index in range(BIG_HEIGHT)
    ]
