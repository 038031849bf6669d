"""The lesson's accounting beside the real one, part by part, and why they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scaletui.state.budget import chosen_stage, looked_at
from scaletui.state.lesson import lesson_lines
from scaletui.text.explain import explain
from scaletui.text.language import N_, tr
from scaletui.view.bars import chip
from scaletui.view.cells import left, right
from scaletui.view.row import Row, Span, fit
from scaletui.view.rule import rule_row, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaletui.state.budget import BudgetState
    from scaletui.state.lesson import LessonLine
    from scaletui.view.box import Box
    from scaletui.view.pen import Pen

FIGURE: Final = 7
WIDE: Final = 36
"""Cells from which parts are named beside their letters."""
_WHY: Final = {
    "weights": N_("The lesson keeps 2 bytes a weight; this recipe keeps more, or tp and pp divide them."),
    "gradients": N_("The lesson keeps every gradient in 2 bytes; here they have their own type and moment."),
    "optimizer": N_("The lesson gives Adam 8 bytes a parameter, and everything else 4 or none."),
    "master_weights": N_("The lesson has no fp32 master weights."),
    "activations": N_(
        "The lesson keeps 4 x 2 bytes a layer, token and channel: no MLP, no attention, no recompute."
    ),
    "loss": N_("The lesson has no logits."),
    "unsharded": N_("The lesson never gathers a layer."),
    "buffers": N_("The lesson has no temporaries, no reserve and nothing outside the allocator."),
}


def lesson_rows(state: BudgetState, box: Box, pen: Pen) -> tuple[Row, ...]:
    """As many rows as the box holds."""
    stage = looked_at(state)
    name = tr("lesson, and stage {stage}", stage=chosen_stage(state))
    title = rule_row(name, box.width, pen, [(box.width - 1, tr("l leaves"))])
    if stage is None or state.answer is None:
        return (title,)
    lines = lesson_lines(state.answer.scenario, stage.parts)
    total = (sum(line.lesson for line in lines), sum(line.real for line in lines))
    rows = [
        title,
        _row(Span("   "), "", (tr("lesson"), tr("here"), tr("more")), box.width),
        *(_line(line, box.width, pen) for line in lines),
        _row(Span(" = "), tr("all"), _figures(*total, pen), box.width),
        fit((), box.width),
        *_reasons(lines, box.width),
    ]
    return tuple(rows[: box.height])


def _line(line: LessonLine, width: int, pen: Pen) -> Row:
    return _row(chip(line.part, pen), explain(line.part), _figures(line.lesson, line.real, pen), width)


def _figures(lesson: int, real: int, pen: Pen) -> tuple[str, str, str]:
    shown = (pen.numbers.gib(amount) if amount else "-" for amount in (lesson, real))
    first, second = shown
    return first, second, pen.numbers.signed(real - lesson, pen.numbers.gib) if real - lesson else ""


def _row(mark: Span, name: str, figures: tuple[str, str, str], width: int) -> Row:
    room = width - 3 - 3 * FIGURE
    columns = "".join(right(figure, FIGURE) for figure in figures)
    return fit((mark, Span(left(f" {name}" if width >= WIDE else "", max(room, 0))), Span(columns)), width)


def _reasons(lines: tuple[LessonLine, ...], width: int) -> Iterator[Row]:
    """A sentence for each part that differs by more than a hundredth of the whole."""
    whole = sum(line.real for line in lines)
    for line in lines:
        if abs(line.difference) * 100 > whole:
            yield from wrapped(tr(_WHY[line.part]), width, "dim")
